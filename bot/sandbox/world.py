"""The world in which the sample jobs work: their files, the feed server, and what people break and repair there.

It touches neither ontrack nor its database: what it does could be done by hand, in an editor.
"""

import fcntl
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.sandbox.feed import Feed

HERE = Path(__file__).parent
JOBS = HERE / "jobs"
POLICIES = HERE / "policies.yaml"
COUNTRIES = ("AT", "DE", "FR", "IT", "NL", "PL")
GOOD_RATES = "[rates]\nchf = 0.9352\ngbp = 0.8644\nusd = 1.0841\n"
BAD_RATES = GOOD_RATES.replace("1.0841", "1.O841")
SHORT_WINDOW = "[model]\nwindow_days = 14\n"
LONG_WINDOW = "[model]\nwindow_days = 1400\n"
LEDGER_HELD = 25.0
MISCOUNTED = "eleven"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAction:
    """What a viewer may do to the world by a button of the page."""

    name: str
    label: str
    hint: str
    act: Callable[[], None]


@dataclass(slots=True)
class World:
    """The files under `directory` and the feed; every act may be repeated."""

    directory: Path
    feed: Feed
    _ledger: IO[str] | None = None
    _release: threading.Timer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self) -> None:
        """Lay everything out as on a good day."""
        for name in ("jobs", "data", "config", "out"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        for script in sorted(JOBS.glob("[!_]*.py")):
            shutil.copy(script, self.directory / "jobs")
        shutil.copy(POLICIES, self.directory)
        self._write("data/orders.csv", orders())
        self._write("data/ledger.csv", ledger())
        self._write("data/clicks.csv", clicks())
        self.recount_stock()
        self.restore_column()
        self.repair_rates()
        self.narrow_window()

    def actions(self) -> tuple[SampleAction, ...]:
        """Everything that a viewer can try, in the order of the page."""
        return (
            SampleAction(
                name="drop-payments",
                label="Drop a payments connection",
                hint="payments_import fails and is rerun by itself; nobody is called.",
                act=lambda: self.feed.drop("payments"),
            ),
            SampleAction(
                name="drop-refunds",
                label="Drop a refunds connection",
                hint="A rerun of refunds_import is over its budget: an owner is asked for a yes.",
                act=lambda: self.feed.drop("refunds"),
            ),
            SampleAction(
                name="break-feed",
                label="Break the feed server",
                hint="Every connection is dropped: reruns fail as well, and the on-call is asked.",
                act=self.break_feed,
            ),
            SampleAction(
                name="repair-feed", label="Repair the feed server", hint="Connections hold again.", act=self.feed.repair
            ),
            SampleAction(
                name="break-rates",
                label="Write a bad number into config/rates.ini",
                hint="exchange_rates fails. Repair the file, then press Fixed in its thread.",
                act=self.break_rates,
            ),
            SampleAction(
                name="repair-rates",
                label="Repair config/rates.ini",
                hint="As an editor would. The next good run confirms a fix.",
                act=self.repair_rates,
            ),
            SampleAction(
                name="lose-column",
                label="Lose a column of data/customers.csv",
                hint="customer_segments fails; its evidence shows which column is gone.",
                act=self.lose_column,
            ),
            SampleAction(
                name="restore-column",
                label="Restore the column",
                hint="The next run of customer_segments settles it.",
                act=self.restore_column,
            ),
            SampleAction(
                name="widen-window",
                label="Let attribution_model load 1400 days",
                hint="It eats memory until it is killed at 96 MB.",
                act=self.widen_window,
            ),
            SampleAction(
                name="narrow-window",
                label="Let it load 14 days again",
                hint="The next run of attribution_model fits.",
                act=self.narrow_window,
            ),
            SampleAction(
                name="miscount-stock",
                label="Write a word among the numbers of data/stock.csv",
                hint="stock_count fails. Its owner Nora is not in Slack: be her, and answer her mail.",
                act=self.miscount_stock,
            ),
            SampleAction(
                name="recount-stock",
                label="Write the number there",
                hint="Then answer Nora's mail with: fixed counted again",
                act=self.recount_stock,
            ),
            SampleAction(
                name="drop-campaigns",
                label="Drop a campaigns connection",
                hint="campaign_costs fails, and Gita is asked. With Slack down she is asked by mail.",
                act=lambda: self.feed.drop("campaigns"),
            ),
            SampleAction(
                name="hold-ledger",
                label="Hold the ledger's lock",
                hint="ledger_close waits for it and is late; the lock is let go after 25 s.",
                act=self.hold_ledger,
            ),
            SampleAction(
                name="release-ledger",
                label="Let go of the ledger's lock",
                hint="ledger_close ends, and its incident closes by itself.",
                act=self.release_ledger,
            ),
        )

    def break_feed(self) -> None:
        self.feed.broken = True

    def break_rates(self) -> None:
        self._write("config/rates.ini", BAD_RATES)

    def repair_rates(self) -> None:
        self._write("config/rates.ini", GOOD_RATES)

    def lose_column(self) -> None:
        self._write("data/customers.csv", customers(with_country=False))

    def restore_column(self) -> None:
        self._write("data/customers.csv", customers(with_country=True))

    def miscount_stock(self) -> None:
        self._write("data/stock.csv", stock().replace("17,11\n", f"17,{MISCOUNTED}\n"))

    def recount_stock(self) -> None:
        self._write("data/stock.csv", stock())

    def widen_window(self) -> None:
        self._write("config/attribution.ini", LONG_WINDOW)

    def narrow_window(self) -> None:
        self._write("config/attribution.ini", SHORT_WINDOW)

    def hold_ledger(self) -> None:
        """Take the ledger's lock, and let it go after a while; waits for a run that has it."""
        with self._lock:
            if self._ledger is not None:
                return
            self._ledger = (self.directory / "data/ledger.lock").open("a")
            fcntl.flock(self._ledger, fcntl.LOCK_EX)
            self._release = threading.Timer(LEDGER_HELD, self.release_ledger)
            self._release.daemon = True
            self._release.start()

    def release_ledger(self) -> None:
        with self._lock:
            if self._release is not None:
                self._release.cancel()
            if self._ledger is not None:
                self._ledger.close()
            self._ledger = self._release = None

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all: a job that reads meanwhile sees the old text or the new one."""
        passing = self.directory / f"{name}.new"
        passing.write_text(text)
        passing.rename(self.directory / name)


def orders() -> str:
    return _table("id,country,amount", (f"{n},{COUNTRIES[n % 6]},{n * 37 % 24000 / 100:.2f}" for n in range(1, 2001)))


def ledger() -> str:
    entries = (f"{n},{'-' if n % 2 else ''}{n // 2 * 13 % 5000 / 100:.2f}" for n in range(2, 802))
    return _table("entry,amount", entries)


def stock() -> str:
    return _table("shelf,pieces", (f"{n},{n * 31 % 43}" for n in range(1, 301)))


def clicks() -> str:
    return _table("at,campaign", (f"{n * 11 % 86400},{'abcd'[n % 4]}-{n % 17}" for n in range(4000)))


def customers(*, with_country: bool) -> str:
    columns = "id,name,country,spend" if with_country else "id,name,spend"
    return _table(
        columns,
        (
            f"{n},customer {n},{COUNTRIES[n % 6]},{n * 53 % 1000}"
            if with_country
            else f"{n},customer {n},{n * 53 % 1000}"
            for n in range(1, 501)
        ),
    )


def _table(header: str, rows: Iterator[str]) -> str:
    return "\n".join((header, *rows)) + "\n"
