"""Whatever happens in whatever order, however it is heard of: every end of a run is told once, and as what it was."""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from bot.schedulers.maestro.heard import heard_in
from bot.sources import SourceEvent, SourceKind
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell
from tests.maestro.fake.records import Run
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk, NotTaken

KINDS = {
    "SUCCEEDED": SourceKind.RUN_SUCCEEDED,
    "FAILED": SourceKind.RUN_FAILED,
    "TIMED_OUT": SourceKind.RUN_FAILED,
    "STOPPED": SourceKind.RUN_CANCELLED,
}
FAULTS = ("drop", "lose", 500, 429, "garbage")
STRATEGIES = ("PARALLEL", "SEQUENTIAL", "STRICT_SEQUENTIAL", "FIRST_ONLY", "LAST_ONLY", "SERIAL_LATEST_ONLY")
SEEDS = range(25)


class Story:
    """One seeded course of things."""

    def __init__(self, seed: int, maestro: Maestro, path: Path) -> None:
        self.dice = random.Random(seed)
        self.maestro = maestro
        maestro.push(DAILY, steps=("load", "publish"), strategy=self.dice.choice(STRATEGIES))
        self.desk = Desk(maestro, path)
        self.desk.polls()
        self.sent = 0
        self.day = 0
        self.by_hand: set[tuple[int, int]] = set()

    def goes_on(self) -> None:
        what = self.dice.choice(
            (
                self.begins,
                self.ends,
                self.ends,
                self.ends,
                self.restarts,
                self.polls,
                self.hears,
                self.breaks,
                self.dies,
            )
        )
        what()

    def settles(self) -> None:
        """Nothing stands in the way any more, and nothing happens."""
        self.maestro.faults.clear()
        self.desk.refuses = False
        self.maestro.clock.moves(timedelta(minutes=30))
        for _ in range(4):
            self.polls(rounds=3)

    def begins(self) -> None:
        self.day += 1
        self.maestro.scheduled(DAILY, MONDAY + timedelta(hours=self.day))

    def ends(self) -> None:
        run = self._one(lambda run: run.status in ("CREATED", "IN_PROGRESS"))
        if run is None:
            return
        match self.dice.randrange(1, 3) if run.status == "CREATED" else self.dice.randrange(4):
            case 0:
                self.maestro.fails_for_good(run, "load" if "load" in self._open(run) else "publish")
            case 1:
                self.maestro.kills(run, user="ann")
                self.by_hand.add((run.instance_id, run.run_id))
            case 2:
                self.maestro.stops(run, user="ann")
                self.by_hand.add((run.instance_id, run.run_id))
            case _:
                self.maestro.succeeds(run)

    def restarts(self) -> None:
        run = self._one(lambda run: run.status in ("FAILED", "STOPPED") and self._is_newest(run))
        if run is not None:
            self.maestro.restarts(run, user="maria", beginning=True)

    def polls(self, rounds: int = 1) -> None:
        try:
            self.desk.polls(rounds)
        except NotTaken:
            self.maestro.clock.moves(timedelta(seconds=1))

    def hears(self) -> None:
        """Some events, old and new ones, in any order."""
        for event in self.dice.sample(self.maestro.events, k=min(4, len(self.maestro.events))):
            heard = heard_in(self.desk.body_of(event))
            if heard is None:
                continue
            try:
                told = {heard.workflow: () if heard.instance is None else (heard.instance,)}
                self.desk.poller.look_at(told, self.desk.clock())
            except (Refused, Unwell, NotSent, NoAnswer, NotTaken):
                continue

    def breaks(self) -> None:
        self.desk.refuses = self.dice.random() < 0.3
        if self.dice.random() < 0.5:
            self.maestro.fails_to_answer(self.dice.choice(FAULTS), "", times=self.dice.randrange(1, 4))
        else:
            self.maestro.faults.clear()

    def dies(self) -> None:
        """The process is gone, and a new one goes on with what is on disk."""
        self.desk.refuses = False
        self.desk.restarted()

    def _one(self, fits: object) -> Run | None:
        runs = [run for run in self.maestro.workflow(DAILY).runs if callable(fits) and fits(run)]
        return self.dice.choice(runs) if runs else None

    def _is_newest(self, run: Run) -> bool:
        return self.maestro.run(DAILY, run.instance_id) is run

    def _open(self, run: Run) -> set[str]:
        return {step for step, attempts in run.attempts.items() if attempts[-1].status != "SUCCEEDED"}

    def expected(self) -> dict[tuple[str, int], SourceKind]:
        found = {}
        for run in self.maestro.workflow(DAILY).runs:
            name = (run.instance_id, run.run_id)
            kind = KINDS.get(run.status)
            if name in self.by_hand:
                kind = SourceKind.RUN_CANCELLED
            elif run.status == "STOPPED" and not run.attempts:
                kind = SourceKind.RUN_SKIPPED
            if kind is not None:
                found[str(run.instance_id), run.run_id] = kind
        return found


def ends(events: list[SourceEvent]) -> dict[tuple[str, int], SourceKind]:
    return {(event.run.run_id, event.run.generation): event.kind for event in events if event.run and event.ended_at}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_end_is_told_once_and_as_what_it_was(seed: int, maestro: Maestro, tmp_path: Path) -> None:
    story = Story(seed, maestro, tmp_path)
    for _ in range(60):
        story.goes_on()
    story.settles()
    told = Counter(event.key for event in story.desk.taken if event.run is not None)

    assert ends(story.desk.taken) == story.expected()
    assert {key: count for key, count in told.items() if count > 1} == {}
