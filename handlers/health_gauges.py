"""Job health for Prometheus: the company's figures and each team's, of the last 30 days, worked out at most once a minute.

It must not hold up a scrape: one that finds them too old has them worked out beside it and waits a moment at most.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bot.incidents.health import HealthReport, Share, Times
from bot.ports import Clock

logger = logging.getLogger(__name__)

FRESH = timedelta(minutes=1)
MOMENT = timedelta(milliseconds=300)
MOST_TEAMS = 200
COMPANY = ""
"""The label `team` of what holds for all jobs together; a job without a team counts there alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What is told of one team, or of all."""

    team: str
    failures: int
    open: int
    acknowledged: Times
    recovery: Times
    first_reruns: Share
    repeats: int
    late: int


class HealthGauges(Collector):
    """`report` reads the figures of all jobs by team, and may raise what it likes: then the last ones are told again."""

    def __init__(self, *, report: Callable[[datetime], HealthReport], clock: Clock) -> None:
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._read: tuple[datetime, HealthReport] | None = None
        self._done = threading.Event()
        self._done.set()

    def describe(self) -> Iterator[Metric]:
        """Nothing is read only to register."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        self._begin()
        self._done.wait(MOMENT.total_seconds())
        read = self._read
        if read is None:
            return
        at, report = read
        yield from _metrics(_lines(report))
        yield GaugeMetricFamily(
            "ontrack_health_read_seconds", "When these figures were worked out, in Unix time.", value=at.timestamp()
        )

    def _begin(self) -> None:
        with self._lock:
            now = self._clock()
            old = self._read is None or not timedelta(0) <= now - self._read[0] < FRESH
            if not old or not self._done.is_set():
                return
            self._done.clear()
        threading.Thread(target=self._work_out, args=(now,), name="health-gauges", daemon=True).start()

    def _work_out(self, now: datetime) -> None:
        try:
            self._read = now, self._report(now)
        except Exception:
            logger.warning("the figures of job health could not be read", exc_info=True)
        finally:
            self._done.set()


def _lines(report: HealthReport) -> list[_Line]:
    health = report.health
    first = Share(n=health.automatic.n + health.approved.n, yes=health.automatic.yes + health.approved.yes)
    company = _Line(
        team=COMPANY,
        failures=health.occurrences,
        open=health.unresolved.n,
        acknowledged=health.acknowledged,
        recovery=health.recovery,
        first_reruns=first,
        repeats=health.repeats,
        late=health.late,
    )
    teams = [
        _Line(
            team=row.name,
            failures=row.occurrences,
            open=row.unresolved,
            acknowledged=row.acknowledged,
            recovery=row.recovery,
            first_reruns=row.first_reruns,
            repeats=row.repeats,
            late=row.late,
        )
        for row in report.rows[:MOST_TEAMS]
        if row.name
    ]
    return [company, *teams]


def _metrics(lines: list[_Line]) -> Iterator[Metric]:
    counts: tuple[tuple[str, str, Callable[[_Line], int]], ...] = (
        ("failures", "Failures that opened in the last 30 days.", lambda line: line.failures),
        ("open", "Failures that are open now.", lambda line: line.open),
        ("answered", "Failures with a time to answer, in the last 30 days.", lambda line: line.acknowledged.n),
        ("recovered", "Failures with a time to recovery, in the last 30 days.", lambda line: line.recovery.n),
        ("first_reruns", "First reruns that ended, in the last 30 days.", lambda line: line.first_reruns.n),
        ("first_reruns_worked", "Those of them that worked.", lambda line: line.first_reruns.yes),
        ("repeats", "Failures that came back, in the last 30 days.", lambda line: line.repeats),
        ("late_runs", "Runs that missed a deadline, in the last 30 days.", lambda line: line.late),
    )
    for name, about, of in counts:
        family = GaugeMetricFamily(f"ontrack_health_{name}", about, labels=("team",))
        for line in lines:
            family.add_metric((line.team,), of(line))
        yield family
    times: tuple[tuple[str, str, Callable[[_Line], Times]], ...] = (
        ("answer", "Time to answer", lambda line: line.acknowledged),
        ("recovery", "Time to recovery", lambda line: line.recovery),
    )
    for name, about, timed in times:
        family = GaugeMetricFamily(
            f"ontrack_health_{name}_seconds", f"{about}, in the last 30 days.", labels=("team", "quantile")
        )
        for line in lines:
            for quantile, value in (("0.5", timed(line).p50), ("0.9", timed(line).p90)):
                if value is not None:
                    family.add_metric((line.team, quantile), value.total_seconds())
        yield family
