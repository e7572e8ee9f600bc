"""Plays many stories at once, so that something is under way wherever a process dies. It kills nothing."""

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle

from tests.kills.source import Source
from tests.kills.stories import Kind, Story
from tests.kills.town import Town

THREADS = 48
ORDER = (
    Kind.SAFE,
    Kind.STRANGE,
    Kind.ACKNOWLEDGED,
    Kind.SAFE,
    Kind.APPROVED,
    Kind.MENDED,
    Kind.WELL,
    Kind.TWICE,
    Kind.PAUSED,
)
AT_ONCE = 16


@dataclass(slots=True)
class Load:
    """`stories` are all that were ever begun."""

    town: Town
    source: Source
    stories: list[Story] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, thread_name_prefix="story"))

    def begin(self, kind: Kind, *, team: str, name: str) -> Story:
        story = Story(kind=kind, team=team, name=name, town=self.town, source=self.source)
        self.stories.append(story)
        self._pool.submit(story.play)
        return story

    def ended(self, *, within: float) -> None:
        """Every story has come to its last step; what went wrong in one is raised."""
        for story in self.stories:
            if not story.done.wait(within):
                raise TimeoutError(f"{story.kind} {story.job} has not come to its end")
            if story.went_wrong is not None:
                raise RuntimeError(f"{story.kind} {story.job}") from story.went_wrong

    def close(self) -> None:
        self.source.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class Stream:
    """Begins a story every so often, in a thread, until it is stopped; never more than a few at once."""

    load: Load
    teams: Sequence[str]
    every: float
    dice: random.Random
    _stop: threading.Event = field(default_factory=threading.Event)
    _names: Iterator[int] = field(default_factory=lambda: iter(range(10**6)))

    @contextmanager
    def flowing(self) -> Iterator[None]:
        self._stop.clear()
        thread = threading.Thread(target=self._begin_stories, name="stream", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _begin_stories(self) -> None:
        for kind in cycle(ORDER):
            if self._stop.wait(self.every * 2 * self.dice.random()):
                return
            if sum(not story.done.is_set() for story in self.load.stories) < AT_ONCE:
                self.load.begin(kind, team=self.dice.choice(self.teams), name=f"{kind}{next(self._names):04}")
