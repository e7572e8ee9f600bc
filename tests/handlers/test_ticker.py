"""The ticker on the real clock: it wakes when something is due, sooner when poked, and outlives a step that raises."""

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from queue import Empty, Queue

import pytest

from handlers.ticker import Ticker

SOON = timedelta(seconds=0.05)
FAR = timedelta(hours=1)


def now() -> datetime:
    return datetime.now(UTC)


class Steps:
    """Records each step and answers with what the test wants to be due next."""

    def __init__(self) -> None:
        self.begun: Queue[datetime] = Queue()
        self.answer: Callable[[datetime], datetime | None] = lambda _: None
        self.at_once = 0
        self.most_at_once = 0

    def step(self, at: datetime) -> datetime | None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.put(at)
        try:
            return self.answer(at)
        finally:
            self.at_once -= 1

    def next_within(self, wait: timedelta) -> datetime | None:
        try:
            return self.begun.get(timeout=wait.total_seconds())
        except Empty:
            return None


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def ticker(steps: Steps) -> Iterator[Ticker]:
    made = Ticker(step=steps.step, clock=now, at_least_every=FAR)
    yield made
    made.stop()


def test_it_steps_at_once_and_then_when_the_next_row_is_due(ticker: Ticker, steps: Steps) -> None:
    due: list[datetime] = []

    def answer(at: datetime) -> datetime | None:
        due.append(at + 2 * SOON)
        return due[-1] if len(due) == 1 else None

    steps.answer = answer
    ticker.start()
    first, second = steps.next_within(FAR), steps.next_within(timedelta(seconds=5))

    assert first is not None
    assert second is not None
    assert second >= due[0]
    assert second - due[0] < timedelta(seconds=1)
    assert steps.next_within(SOON) is None


def test_a_poke_brings_the_wake_up_forward(ticker: Ticker, steps: Steps) -> None:
    ticker.start()
    steps.next_within(FAR)
    wanted = now() + SOON
    ticker.poke(wanted)
    woken = steps.next_within(timedelta(seconds=5))

    assert woken is not None
    assert woken >= wanted


def test_a_poke_for_later_than_the_next_step_changes_nothing(ticker: Ticker, steps: Steps) -> None:
    ticker.start()
    steps.next_within(FAR)
    ticker.poke(now() + 2 * FAR)

    assert steps.next_within(2 * SOON) is None


def test_a_poke_during_a_step_is_not_lost(ticker: Ticker, steps: Steps) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def answer(_: datetime) -> datetime | None:
        inside.set()
        go_on.wait(10)
        return None

    steps.answer = answer
    ticker.start()
    assert inside.wait(10)
    steps.answer = lambda _: None
    ticker.poke(now())
    ticker.poke(now() + FAR)
    go_on.set()
    steps.next_within(FAR)

    assert steps.next_within(timedelta(seconds=5)) is not None
    assert steps.next_within(SOON) is None


def test_many_pokes_from_many_threads_never_step_twice_at_once_and_none_is_lost(ticker: Ticker, steps: Steps) -> None:
    ticker.start()

    def poke() -> None:
        for _ in range(200):
            ticker.poke(now())

    pokers = [threading.Thread(target=poke) for _ in range(4)]
    for poker in pokers:
        poker.start()
    for poker in pokers:
        poker.join(10)
    last = now()
    ticker.poke(last)
    while (at := steps.next_within(timedelta(seconds=5))) is not None and at < last:
        continue

    assert at is not None
    assert steps.most_at_once == 1


def test_a_step_that_raises_is_logged_and_tried_again(
    ticker: Ticker, steps: Steps, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(_: datetime) -> datetime | None:
        steps.answer = lambda _: None
        raise RuntimeError("the database is away")

    steps.answer = answer
    with caplog.at_level(logging.ERROR, logger="handlers.ticker"):
        ticker.start()
        steps.next_within(FAR)
        again = steps.next_within(timedelta(seconds=5))

    assert again is not None
    assert [record.message for record in caplog.records] == ["a step failed; the next tick tries again"]


def test_it_steps_now_and_then_whatever_was_answered(steps: Steps) -> None:
    ticker = Ticker(step=steps.step, clock=now, at_least_every=SOON)
    steps.answer = lambda at: at + FAR
    ticker.start()
    seen = [steps.next_within(timedelta(seconds=5)) for _ in range(3)]
    ticker.stop()

    assert None not in seen


def test_a_row_that_was_due_long_ago_is_worked_at_once(ticker: Ticker, steps: Steps) -> None:
    ticker.start()
    steps.next_within(FAR)
    ticker.poke(now() - timedelta(hours=6))

    assert steps.next_within(timedelta(seconds=5)) is not None


def test_after_the_stop_nothing_steps_any_more(steps: Steps) -> None:
    ticker = Ticker(step=steps.step, clock=now, at_least_every=FAR)
    ticker.poke(now())
    ticker.start()
    steps.next_within(FAR)
    ticker.stop()
    ticker.stop()
    ticker.poke(now())

    assert steps.next_within(SOON) is None
