"""Plays the whole story by itself and says whether each step was seen: `python -m bot demo --check`.

It acts over the same signed HTTP as a browser, and looks into the database only to compare.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from itertools import takewhile
from pathlib import Path

import httpx

from bot.compose.logs import set_up_logs
from bot.sandbox.chapters_aside import late_and_done, paused_and_resumed, retired_and_back
from bot.sandbox.chapters_asked import asked_how_they_do
from bot.sandbox.chapters_mail import answered_by_mail, while_slack_is_down
from bot.sandbox.chapters_repaired import approved_rerun, healthy, repaired_by_a_person, rerun_by_itself
from bot.sandbox.control import path_of
from bot.sandbox.demo import Demo, start, utc_now
from bot.sandbox.mail.client import MailClient
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.text import text_of
from bot.sandbox.telling import Stage, StepFailed, Teller
from bot.sandbox.witness import Witness

Played = Callable[[Stage], None]
TOGETHER: tuple[Played, ...] = (
    healthy,
    rerun_by_itself,
    approved_rerun,
    repaired_by_a_person,
    paused_and_resumed,
    retired_and_back,
    late_and_done,
    answered_by_mail,
    asked_how_they_do,
)
AFTERWARDS: tuple[Played, ...] = (while_slack_is_down,)
"""Chapters that nobody else can play beside: they take from all what all need."""
LONGEST = timedelta(seconds=100)
WARNING = 30
SHOWN_LINES = 3


def check(*, directory: Path | None = None, longest: timedelta = LONGEST) -> int:
    """Play every chapter, print the threads and the mails, and return 0 only if each step was seen."""
    set_up_logs("console", level=WARNING)
    place = directory or Path(tempfile.mkdtemp(prefix="ontrack-check-"))
    began = time.monotonic()
    demo = start(place, tour=False)
    teller = Teller(began=began, until=began + longest.total_seconds())
    teller.tell("", f"the sandbox runs in {demo.directory}")
    try:
        with (
            Witness(demo.address, demo.settings.database_url) as witness,
            Workspace(demo.address) as workspace,
            MailClient(demo.address) as mail,
            httpx.Client(timeout=30) as http,
        ):
            stage = Stage(
                witness=witness,
                workspace=workspace,
                mail=mail,
                teller=teller,
                clock=utc_now,
                press=_presser(demo, http),
            )
            failures = [*_played(stage, TOGETHER), *_played(stage, AFTERWARDS)]
            print(f"\n{threads(witness)}\n{mails(mail)}\n")
    finally:
        demo.stop()
    for failure in failures:
        print(f"NOT SEEN  {failure}\n")
    chapters = len(TOGETHER) + len(AFTERWARDS)
    print(
        f"{'failed' if failures else 'ok'}: {chapters - len(failures)} of {chapters} chapters seen "
        f"in {time.monotonic() - began:.1f} s; everything is kept in {demo.directory}"
    )
    return 1 if failures else 0


def threads(witness: Witness) -> str:
    """Every channel and thread as text, as a person would read it."""
    names = witness.names()
    lines: list[str] = []
    for channel, thread in witness.threads():
        lines += ["", f"==== #{channel['name']}"]
        for number, message in enumerate(thread):
            indent = "    | " if number else "  "
            lines += ([indent] if number else []) + [f"{indent}{line}" for line in text_of(message, names).splitlines()]
    return "\n".join(line.rstrip() for line in lines)


def mails(mail: MailClient) -> str:
    """Every mailbox with what came and what was answered, each mail by how it begins."""
    lines: list[str] = []
    box = ""
    for each in sorted(mail.mails(), key=lambda each: str(each["box"])):
        if each["box"] != box:
            box = each["box"]
            lines += ["", f"==== {box}"]
        sign = ">" if each["answers"] is None else "< proven" if each["proven"] else "< forged"
        own = takewhile(lambda line: not line.endswith("wrote:"), each["text"].splitlines())
        said = [line for line in own if line.strip()][:SHOWN_LINES]
        lines += [f"  {sign} {each['subject']}", *(f"      {line}" for line in said)]
    return "\n".join(lines)


def _played(stage: Stage, chapters: Sequence[Played]) -> list[str]:
    """Play these chapters side by side; returns what was not seen."""
    with ThreadPoolExecutor(max_workers=len(chapters), thread_name_prefix="chapter") as pool:
        played = [(chapter.__name__, pool.submit(chapter, stage)) for chapter in chapters]
        return [failure for name, future in played if (failure := _failure(name, future))]


def _failure(name: str, future: Future[None]) -> str | None:
    failed = future.exception()
    if failed is None:
        return None
    if isinstance(failed, StepFailed):
        return str(failed)
    return f"{name}: {type(failed).__name__}: {failed}"


def _presser(demo: Demo, http: httpx.Client) -> Callable[[str], None]:
    """Presses a sample action as the page does."""

    def press(name: str) -> None:
        http.post(f"{demo.control}{path_of(demo.actions[name])}").raise_for_status()

    return press
