"""Job health for Prometheus: the figures by team, worked out at most once a minute, and never waited for."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event

from prometheus_client import CollectorRegistry, generate_latest

from bot.incidents.health import HealthReport, Scope
from bot.store import StorageDown
from handlers import health_gauges
from handlers.health_gauges import HealthGauges
from tests.handlers.doubles import Clock
from tests.health import answers

REPORT = HealthReport(
    health=replace(answers.FINANCE, scope=Scope(), occurrences=17),
    rows=(replace(answers.ROWS[0], name="finance"), replace(answers.ROWS[1], name="")),
)


@dataclass
class Figures:
    """Counts how often it was asked; `holds` makes it wait, `down` fails."""

    asked: list[datetime] = field(default_factory=list)
    holds: Event | None = None
    down: bool = False
    report: HealthReport = REPORT

    def __call__(self, now: datetime) -> HealthReport:
        self.asked.append(now)
        if self.holds is not None:
            self.holds.wait(10)
        if self.down:
            raise StorageDown
        return self.report


def scraped(figures: Figures, clock: Clock) -> tuple[CollectorRegistry, HealthGauges]:
    registry = CollectorRegistry()
    gauges = HealthGauges(report=figures, clock=clock)
    registry.register(gauges)
    return registry, gauges


def lines(registry: CollectorRegistry) -> dict[str, float]:
    text = generate_latest(registry).decode()
    return {
        line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")
    }


def test_the_company_and_every_team_have_their_figures() -> None:
    figures = Figures()
    registry, _ = scraped(figures, Clock())
    found = lines(registry)

    assert found['ontrack_health_failures{team=""}'] == 17
    assert found['ontrack_health_failures{team="finance"}'] == 7
    assert found['ontrack_health_first_reruns{team=""}'] == 17
    assert found['ontrack_health_first_reruns_worked{team=""}'] == 14
    assert found['ontrack_health_answer_seconds{quantile="0.5",team=""}'] == 14 * 60
    assert found['ontrack_health_recovery_seconds{quantile="0.9",team="finance"}'] == 3 * 3600
    assert not any('team="None"' in name for name in found)


def test_registering_reads_nothing() -> None:
    figures = Figures()
    scraped(figures, Clock())

    assert figures.asked == []


def test_they_are_worked_out_at_most_once_a_minute() -> None:
    figures, clock = Figures(), Clock()
    registry, _ = scraped(figures, clock)
    for _ in range(5):
        lines(registry)
        clock.move(timedelta(seconds=14))

    assert len(figures.asked) == 1

    lines(registry)
    assert len(figures.asked) == 2


def test_a_scrape_does_not_wait_for_slow_figures_and_tells_the_last_ones() -> None:
    figures, clock, holds = Figures(), Clock(), Event()
    registry, _ = scraped(figures, clock)
    lines(registry)
    clock.move(timedelta(minutes=2))
    figures.holds = holds
    old = lines(registry)
    lines(registry)
    holds.set()

    assert old['ontrack_health_failures{team=""}'] == 17
    assert len(figures.asked) == 2


def test_a_database_that_is_away_leaves_the_last_figures() -> None:
    figures, clock = Figures(down=True), Clock()
    registry, _ = scraped(figures, clock)
    assert lines(registry) == {}

    figures.down = False
    assert lines(registry)['ontrack_health_failures{team=""}'] == 17

    clock.move(timedelta(minutes=2))
    figures.down = True
    assert lines(registry)['ontrack_health_failures{team=""}'] == 17


def test_there_are_so_many_labels_at_most() -> None:
    rows = tuple(replace(answers.ROWS[0], name=f"team-{number}") for number in range(1_000))
    registry, _ = scraped(Figures(report=replace(REPORT, rows=rows)), Clock())
    teams = {name for name in lines(registry) if name.startswith("ontrack_health_failures{")}

    assert len(teams) == health_gauges.MOST_TEAMS + 1
