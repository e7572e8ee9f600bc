"""Kills the product at random moments under load, again and again, and says what came of it: `make torture KILLS=200`.

One JSON line on standard output; progress and whatever was lost or doubled on standard error. The dice are seeded.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.databases import PostgresServer
from tests.kills.audit import World, problems
from tests.kills.edge import Moment
from tests.kills.load import Load, Stream
from tests.kills.picture import Watch
from tests.kills.rest import PATIENCE, Rest, until
from tests.kills.source import Source
from tests.kills.town import ALONE, Town, opened
from tests.postgres import running_postgres

SPLIT = ("web", "worker", "clock")
"""The last one may lead; it is there first, so that web knows people who may decide from its first moment on."""
TEAMS = ("alpha", "beta", "gamma", "delta")
CALLS = ("/chat.postMessage", "/chat.update", "/files.completeUploadExternal", "/conversations.")
LONGEST_LIFE = 1.2
LONGEST_START = 0.4
WAITS_FOR_A_CALL = 3.0
KILLS_A_ROUND = 50


@dataclass(slots=True)
class Torturer:
    """`ways` counts how processes died; a third die in a call, some while they start or stop, the others anywhere."""

    town: Town
    load: Load
    stream: Stream
    rest: Rest
    dice: random.Random
    ways: Counter[str] = field(default_factory=Counter)
    _pause: threading.Event = field(default_factory=threading.Event)

    def round(self, kills: int) -> None:
        """So many kills under load; afterwards everything comes to rest."""
        with self.stream.flowing():
            self._kills(kills)
        begun_at = datetime.now(UTC)
        self.town.start()
        self.rest.after_beginning(begun_at)

    def _kills(self, kills: int) -> None:
        until = self.town.died + kills
        while self.town.died < until:
            self.town.start()
            way = self.dice.choices(("anywhere", "call", "request", "starting", "stopping"), (10, 5, 2, 2, 1))[0]
            before = self.town.died
            getattr(self, f"_{way}")()
            self.ways[way] += self.town.died - before

    def _anywhere(self) -> None:
        self._pause.wait(LONGEST_LIFE * self.dice.random())
        self.town.kill(self._somebody())

    def _starting(self) -> None:
        role = self._somebody()
        self.town.kill(role)
        self.town.begin(role)
        self._pause.wait(LONGEST_START * self.dice.random())
        self.town.kill(role)

    def _stopping(self) -> None:
        role = self._somebody()
        self.town.tell(role, signal.SIGTERM)
        self._pause.wait(LONGEST_START * self.dice.random())
        self.town.kill(role)

    def _call(self) -> None:
        self._in(self.town.slack, self.dice.choice(CALLS))

    def _request(self) -> None:
        self._in(self.town.scheduler, "/ontrack")

    def _in(self, where: Any, path: str) -> None:
        """The caller dies of a call, at any of its moments; of several processes only the one that was chosen can."""
        role = self._somebody()
        self.town.trap(where, path, self.dice.choice(tuple(Moment)), role=role)
        if where.has_sprung(within=WAITS_FOR_A_CALL):
            self.town.buried(role)
        else:
            where.set_trap(None)
            self.town.kill(role)

    def _somebody(self) -> str:
        return self.dice.choice(sorted(self.town.pids))


def torture(
    url: str, place: Path, *, kills: int, seed: int, roles: Sequence[str] = ALONE, every: float = 0.25
) -> dict[str, Any]:
    """Everything about one run; `problems` is empty when nothing was lost or doubled."""
    begun = time.monotonic()
    with (
        opened(Town(place, url, TEAMS, roles=roles)) as town,
        closing(Load(town, Source(town.url))) as load,
        closing(Watch(url)) as watch,
    ):
        dice = random.Random(seed)
        rest = Rest.of(town, load, watch)
        torturer = Torturer(town, load, Stream(load, TEAMS, every, dice), rest, dice)
        if roles != ALONE:
            town.migrate()
        town.begin(roles[-1])
        until(watch.people, within=PATIENCE, what="nobody is known yet")
        while town.died < kills:
            torturer.round(min(KILLS_A_ROUND, kills - town.died))
            print(f"{town.died} kills, {len(load.stories)} jobs, at rest", file=sys.stderr, flush=True)
        picture = watch.picture()
        found = problems(World(picture=picture, seen=town.seen, stories=load.stories, ledger=town.ledger))
        return {
            "figure": "torture",
            "db": url.partition(":")[0],
            "roles": "+".join(roles),
            "seed": seed,
            "kills": town.died,
            "ways": dict(torturer.ways),
            "lives": town.lives,
            "seconds": round(time.monotonic() - begun),
            "events": len(load.source.results),
            "events_sent_again": load.source.unanswered,
            "jobs": len(load.stories),
            "occurrences": len(picture.incidents),
            "messages": len(town.seen.posts()),
            "files": len(town.seen.files()),
            "reruns": len(town.seen.taken("rerun")),
            "local_runs": len(town.ledger.read_text().splitlines()) if town.ledger.exists() else 0,
            "longest_backlog_seconds": round(max(rest.backlog_took), 1),
            "problems": found,
        }


@contextmanager
def database(kind: str, place: Path) -> Iterator[str]:
    """An empty database of that kind."""
    if kind == "sqlite":
        yield f"sqlite:///{place}/ontrack.db"
        return
    with running_postgres() as server_place:
        server = PostgresServer(server_place)
        yield server.new_database(migrated=False)
        server.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--db", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument(
        "--split", action="store_true", help="web, worker and clock in processes of their own (PostgreSQL)"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="torture-"))
    roles = SPLIT if options.split else ALONE
    with database(options.db, place) as url:
        figure = torture(url, place, kills=options.kills, seed=options.seed, roles=roles)
    for problem in figure["problems"]:
        print(problem, file=sys.stderr)
    print(json.dumps({**figure, "problems": len(figure["problems"])}))
    print(f"logs and journals: {place}", file=sys.stderr)
    return bool(figure["problems"])


if __name__ == "__main__":
    sys.exit(main())
