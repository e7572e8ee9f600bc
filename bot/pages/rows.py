"""Turns lines of the storage into rows of a page: names for ids, titles for causes, teams and zones by policy. Reads nothing."""

from collections.abc import Callable, Iterable
from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.people import People
from bot.policies.model import Policies
from bot.render.pages import Row, RunRow
from bot.store.page_reads import RecordLine, RunLine


class Rows:
    """Makes rows; policies and people are those of the moment."""

    def __init__(self, *, policies: Callable[[], Policies], people: Callable[[], People]) -> None:
        self._policies = policies
        self._people = people

    def of(self, lines: Iterable[RecordLine], *, why: Callable[[RecordLine], str] = lambda line: "") -> tuple[Row, ...]:
        """A row for each line; `why` says what it is like."""
        titles = {rule.id: rule.title for rule in self._policies().every_rule()}
        return tuple(self._row(line, titles, why(line)) for line in lines)

    def team_of(self, job: JobKey) -> str:
        """The name of the job's team; empty without one."""
        team = self._policies().job(job).team
        return team.name if team else ""

    def zone_of(self, job: JobKey) -> str:
        policy = self._policies().job(job)
        return policy.schedule.zone if policy.schedule else policy.late.zone

    def _row(self, line: RecordLine, titles: dict[str, str], why: str) -> Row:
        return Row(
            record=line.record,
            number=line.number,
            job=line.job,
            team=self.team_of(line.job),
            zone=self.zone_of(line.job),
            status=line.status,
            cause=line.cause,
            title="cause not known" if line.cause == "unknown" else titles.get(line.cause, line.cause),
            opened_at=line.opened_at,
            closed_at=line.closed_at,
            outcome=line.outcome,
            on_it=self._people().name(line.held_by) if line.held_by else "",
            until=line.held_until,
            why=why,
        )


def run_row(line: RunLine) -> RunRow:
    """A run as the history of its job shows it."""
    ended, began = line.ended_at, line.started_at
    took = ended - began if ended is not None and began is not None else None
    return RunRow(
        run_id=line.run.run_id,
        nominal_time=line.run.nominal_time,
        generation=line.run.generation,
        state=line.state,
        trigger=line.run.trigger,
        at=line.at,
        took=took if took is not None and took >= timedelta() else None,
        cause=line.cause or "",
        url=line.run.url,
    )
