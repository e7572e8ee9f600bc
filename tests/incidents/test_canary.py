"""The waves by which many reruns of one cause go: the rule by itself, under any order of what can happen."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.incidents import canary
from bot.incidents.canary import Canary, Stage
from bot.incidents.policy import CanaryPolicy
from tests.incidents.worlds import MONDAY

POLICY = CanaryPolicy(jobs=3, window=timedelta(minutes=5), hold=timedelta(hours=1))
CAUSE = "network.connection_reset"


@dataclass
class Reruns:
    """The reruns of one cause as their rows have them, beside the canary that knows only counts."""

    canary: Canary = field(default_factory=lambda: Canary(cause=CAUSE))
    stages: dict[int, Stage] = field(default_factory=dict)
    ended_well: list[int] = field(default_factory=list)
    most_out: int = 0
    now = MONDAY
    number: int = 0

    def at(self, stage: Stage) -> list[int]:
        return [number for number, known in self.stages.items() if known is stage]

    def plan(self) -> None:
        self.number += 1
        stage = canary.stage_of_next(self.canary, POLICY, self.now)
        if canary.refusal(self.canary, POLICY, self.now):
            return
        if canary.opens(self.canary, POLICY, self.now):
            planned, out = len(self.at(Stage.PLANNED)), len(self.at(Stage.OUT))
            self.canary = canary.opened(self.canary, planned=planned, out=out)
        self.canary = canary.joined(self.canary, POLICY, self.now)
        self.stages[self.number] = stage
        self.lets()

    def goes(self, number: int) -> None:
        """The waiting of one is over: its back-off, or its being held."""
        was = self.stages[number]
        if was not in (Stage.PLANNED, Stage.LET) or canary.refusal(self.canary, POLICY, self.now):
            return
        to = Stage.OUT if was is Stage.LET or not self.canary.full else Stage.HELD
        self.canary = canary.moved(self.canary, was=was, to=to)
        self.stages[number] = to
        self.lets()

    def leaves(self, number: int) -> None:
        self.canary = canary.left(self.canary, was=self.stages.pop(number))
        self.lets()

    def ends(self, number: int, *, ok: bool) -> None:
        if self.stages[number] is not Stage.OUT:
            return
        del self.stages[number]
        if ok:
            self.ended_well.append(number)
            self.canary = canary.went_well(self.canary)
        else:
            stops = self.canary.on
            self.canary = canary.stopped(self.canary, by="shop/feed", now=self.now)
            for held in self.at(Stage.HELD) if stops else ():
                self.stages[held] = Stage.STOPPED
        self.lets()

    def lets(self) -> None:
        for number in self.at(Stage.HELD)[: self.canary.due]:
            self.stages[number] = Stage.LET
        self.canary = canary.let(self.canary, self.canary.due)


def flying(jobs: int = 10) -> Reruns:
    reruns = Reruns()
    for _ in range(jobs):
        reruns.plan()
    return reruns


def test_the_first_few_back_off_and_all_after_them_are_held() -> None:
    reruns = flying(10)

    assert reruns.at(Stage.PLANNED) == [1, 2, 3]
    assert reruns.at(Stage.HELD) == [4, 5, 6, 7, 8, 9, 10]


def test_only_one_goes_although_several_backed_off() -> None:
    reruns = flying(10)
    for number in (1, 2, 3):
        reruns.goes(number)

    assert reruns.at(Stage.OUT) == [1]
    assert len(reruns.at(Stage.HELD)) == 9


def test_each_wave_that_went_well_is_followed_by_twice_as_many() -> None:
    reruns = flying(40)
    for number in (1, 2, 3):
        reruns.goes(number)
    sizes = []
    while out := [*reruns.at(Stage.OUT), *reruns.at(Stage.LET)]:
        sizes.append(len(out))
        for number in out:
            reruns.goes(number)
        for number in out:
            reruns.ends(number, ok=True)

    assert sizes == [1, 2, 4, 8, 16, 9]
    assert not reruns.canary.on


def test_those_that_went_before_there_were_many_are_the_canary() -> None:
    reruns = flying(3)
    for number in (1, 2, 3):
        reruns.goes(number)
    for _ in range(5):
        reruns.plan()
    assert len(reruns.at(Stage.HELD)) == 5

    reruns.ends(1, ok=True)
    reruns.ends(2, ok=True)
    assert len(reruns.at(Stage.HELD)) == 5
    reruns.ends(3, ok=True)
    assert len(reruns.at(Stage.LET)) == 2


@pytest.mark.parametrize("minutes", [0, 59])
def test_after_a_failure_nothing_of_the_cause_is_licensed_for_an_hour(minutes: int) -> None:
    stopped = canary.stopped(canary.opened(Canary(cause=CAUSE), planned=1, out=0), by="shop/feed", now=MONDAY)

    assert canary.refusal(stopped, POLICY, MONDAY + timedelta(minutes=minutes))
    assert canary.refusal(stopped, POLICY, MONDAY + timedelta(minutes=60)) is None


def test_a_canary_that_nothing_has_stirred_for_a_day_holds_nobody_any_more() -> None:
    flying = Canary(cause=CAUSE, wave=1, gone=1, out=1, stirred_at=MONDAY)

    assert canary.remembered(flying, MONDAY + timedelta(hours=24)) == flying
    assert not canary.remembered(flying, MONDAY + timedelta(hours=25)).on


ACTS = st.lists(
    st.tuples(st.sampled_from(["plan", "goes", "leaves", "well", "badly"]), st.integers(0, 30)), max_size=120
)


@given(ACTS)
def test_whatever_happens_no_more_go_than_the_wave_has_places_and_nobody_waits_for_nothing(
    acts: list[tuple[str, int]],
) -> None:
    reruns = flying(6)
    went, failed_at = 0, None
    for act, which in acts:
        numbers = sorted(reruns.stages)
        number = numbers[which % len(numbers)] if numbers else None
        before = len(reruns.at(Stage.OUT))
        well = len(reruns.ended_well)
        match act:
            case "plan":
                reruns.plan()
            case "goes" if number is not None:
                reruns.goes(number)
            case "leaves" if number is not None:
                reruns.leaves(number)
            case "well" if number is not None:
                reruns.ends(number, ok=True)
            case "badly" if number is not None:
                fails = reruns.canary.on and reruns.stages[number] is Stage.OUT
                reruns.ends(number, ok=False)
                failed_at = len(reruns.at(Stage.OUT)) if fails else failed_at
        known, out = reruns.canary, len(reruns.at(Stage.OUT)) + len(reruns.at(Stage.LET))
        went += max(0, len(reruns.at(Stage.OUT)) - before)

        assert well <= len(reruns.ended_well)
        if failed_at is not None:
            assert reruns.at(Stage.HELD) == []
            assert len(reruns.at(Stage.OUT)) <= failed_at
        if known.on:
            assert (known.planned, known.held, known.out) == (
                len(reruns.at(Stage.PLANNED)),
                len(reruns.at(Stage.HELD)),
                out,
            )
            assert known.out <= known.gone <= known.wave or known.wave == 1
            assert known.wave <= 2 * max(1, len(reruns.ended_well))
            assert known.held == 0 or known.out or known.planned
        else:
            assert reruns.at(Stage.HELD) == []
