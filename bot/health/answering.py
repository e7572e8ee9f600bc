"""The use case behind `/job-health`: from what somebody typed to a value that can be shown. It must not render or send.

Managers and admins may set the baseline; who else tries is told who can.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.health.asking import BaselineAsked, BaselineWanted, Help, Question, understood, words_of
from bot.health.links import HealthLinks
from bot.health.names import Names
from bot.health.query import Query, Versus
from bot.incidents.health import Baseline, HealthReport, Period, Scope
from bot.incidents.people import Person
from bot.people import People
from bot.policies.model import Policies
from bot.render.health import BaselineShown, HealthAnswer, HealthHelp, OpenOne
from bot.store import OpenLine, Reads
from bot.store.health import OccurrenceRow

MOST_OPEN = 6


class Reports(Protocol):
    """Where figures come from; `bot.health.reporting` implements it. Every method may raise `StorageDown`."""

    def report(self, query: Query, *, now: datetime) -> HealthReport: ...

    def rows(self, query: Query, *, now: datetime) -> tuple[OccurrenceRow, ...]: ...

    def baseline(self) -> Baseline | None: ...

    def set_baseline(self, period: Period, review: Period, *, by: str, now: datetime) -> Baseline: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer to a question, with the question as it was understood."""

    query: Query
    answer: HealthAnswer


Told = Answered | HealthHelp | BaselineShown


class HealthAnswers:
    """Handed to the command, the page and the command line; `links` makes an answer's addresses."""

    def __init__(
        self,
        *,
        reports: Reports,
        names: Names,
        reads: Reads,
        team_of: Callable[[OpenLine], str],
        url_of: Callable[[int, int], str | None],
        people: Callable[[], People],
        policies: Callable[[], Policies],
        links: Callable[[Query, datetime], HealthLinks],
    ) -> None:
        self._reports = reports
        self._names = names
        self._reads = reads
        self._team_of = team_of
        self._url_of = url_of
        self._people = people
        self._policies = policies
        self._links = links

    def tell(self, text: str, *, by: Person | None, now: datetime) -> Told:
        """What `text` is answered with; `by` None: whoever asks may change nothing."""
        asked = understood(text, names=self._names, now=now)
        match asked:
            case Help():
                return HealthHelp(problem=asked.problem, near=asked.near, examples=asked.examples)
            case BaselineAsked():
                return BaselineShown(baseline=self._reports.baseline())
            case BaselineWanted():
                return self._set(asked, by, now)
            case Question():
                return self._answered(asked, now)

    def rows(self, text: str, *, now: datetime) -> tuple[OccurrenceRow, ...] | HealthHelp:
        """The occurrences behind the answer to `text`, or help."""
        found = self.question(text, now=now)
        return self._reports.rows(found, now=now) if isinstance(found, Query) else found

    def report(self, text: str, *, now: datetime) -> HealthReport | HealthHelp:
        """The figures alone, or help."""
        found = self.question(text, now=now)
        return self._reports.report(found, now=now) if isinstance(found, Query) else found

    def question(self, text: str, *, now: datetime) -> Query | HealthHelp:
        """The question that `text` asks; help also for what is no question about figures."""
        asked = understood(text, names=self._names, now=now)
        if isinstance(asked, Question):
            return self._chosen(asked, now).query
        if isinstance(asked, Help):
            return HealthHelp(problem=asked.problem, near=asked.near, examples=asked.examples)
        return HealthHelp(problem="The baseline is told and set in the chat, by /job-health baseline.")

    def name_of(self, person: Person) -> str:
        """How the person is called in the workspace."""
        known = self._people().person(person.id)
        return known.name if known is not None else str(person)

    def teams(self) -> tuple[str, ...]:
        return tuple(self._names.teams())

    def baseline(self) -> Baseline | None:
        return self._reports.baseline()

    def _answered(self, asked: Question, now: datetime) -> Answered:
        asked = self._chosen(asked, now)
        query, links = asked.query, self._links(asked.query, now)
        with self._reads.at_once():
            report = self._reports.report(query, now=now)
            lines = [line for line in self._reads.open_lines() if self._is_of(line, query.scope)]
            shown = tuple(self._open(line) for line in sorted(lines, key=lambda line: line.opened_at)[:MOST_OPEN])
        answer = HealthAnswer(
            report=report,
            at=now,
            zone=asked.zone,
            ask=words_of(query),
            open=shown,
            open_count=len(lines),
            unattended=sum(line.held_by is None for line in lines),
            page_url=links.page,
            csv_url=links.csv,
            picture_url=links.picture,
        )
        return Answered(query=query, answer=answer)

    def _chosen(self, asked: Question, now: datetime) -> Question:
        """With the recorded review period where the baseline is to be compared and no other period was named."""
        if asked.query.versus is not Versus.BASELINE or not asked.plain_period:
            return asked
        baseline = self._reports.baseline()
        if baseline is None or baseline.review.since >= now:
            return asked
        period = replace(baseline.review, until=min(baseline.review.until, now))
        return replace(asked, query=replace(asked.query, period=period), zone=period.zone)

    def _is_of(self, line: OpenLine, scope: Scope) -> bool:
        return (
            scope.team in (None, self._team_of(line))
            and scope.job in (None, line.job)
            and scope.scheduler in (None, line.job.scheduler)
            and scope.cause in (None, line.cause)
        )

    def _open(self, line: OpenLine) -> OpenOne:
        return OpenOne(
            job=line.job,
            team=self._team_of(line),
            status=line.status,
            opened_at=line.opened_at,
            on_it=self._people().name(line.held_by) if line.held_by else "",
            url=self._url_of(line.record, line.number),
        )

    def _set(self, wanted: BaselineWanted, by: Person | None, now: datetime) -> BaselineShown:
        people, policies = self._people(), self._policies()
        may = tuple(managers_and_admins(policies))
        ids = {people.known_as(name) for name in may}
        row = people.person(by.id) if by is not None else None
        inactive = row is not None and not row.active
        if by is None or inactive or people.known_as(by.id) not in ids:
            names = tuple(sorted({people.name(people.known_as(name)) for name in may}))
            return BaselineShown(baseline=None, refused=True, may=names)
        called = self.name_of(by)
        who = f"{called} ({by.id})" if called != by.id else called
        baseline = self._reports.set_baseline(wanted.period, wanted.review, by=who, now=now)
        return BaselineShown(baseline=baseline, new=True)


def managers_and_admins(policies: Policies) -> Iterable[str]:
    """Who may set the baseline, as policies.yaml names them."""
    yield from policies.admins
    for team in policies.teams.values():
        if team.manager:
            yield team.manager
