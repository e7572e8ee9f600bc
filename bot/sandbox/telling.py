"""Runs the steps of a story: each is awaited, told in one line, and fails with what was expected and what was seen.

It must not know what the story is about.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sandbox.mail.client import MailClient
from bot.sandbox.slack.client import Workspace
from bot.sandbox.witness import Found, Json, Seen, Witness

ALWAYS = timedelta(seconds=30)
SHOWN_REPLIES = 4
SHOWN_MAILS = 3


class StepFailed(Exception):
    """A step that was not seen; its text says which, what was expected and what was seen."""


@dataclass(slots=True, kw_only=True)
class Teller:
    """Tells the steps of all chapters as they are seen; `until` is when the whole story must have ended."""

    until: float
    began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, sign: str, text: str) -> None:
        with self._lock:
            print(f"{sign:4}{time.monotonic() - self.began:5.1f} s  {text}", flush=True)


@dataclass(slots=True, kw_only=True)
class Stage:
    """What all chapters share. One person fills one modal at a time: `hands`."""

    witness: Witness
    workspace: Workspace
    mail: MailClient
    teller: Teller
    clock: Callable[[], datetime]
    press: Callable[[str], None]
    hands: dict[str, threading.RLock] = field(default_factory=dict)

    def hand_of(self, person: str) -> threading.RLock:
        return self.hands.setdefault(person, threading.RLock())


@dataclass(slots=True, kw_only=True)
class Chapter:
    """One job's part of the story."""

    stage: Stage
    job: str

    def see(
        self,
        step: str,
        expected: str,
        *,
        thread: Callable[[Seen], bool],
        record: Callable[[Seen], bool],
        within: timedelta = ALWAYS,
    ) -> Seen:
        """Await that the thread in the workspace and the record in the database both show what is expected."""

        def look() -> Seen | None:
            seen = self.stage.witness.seen(self.job)
            return seen if seen is not None and record(seen) and thread(seen) else None

        found = self._await(look, within)
        if found is None:
            raise StepFailed(self._unseen(step, expected, thread=thread, record=record))
        self.stage.teller.tell("ok", f"{step}: {self.job} {expected}")
        return found

    def await_true(
        self, step: str, expected: str, look: Callable[[], bool], *, within: timedelta = ALWAYS, told: bool = True
    ) -> None:
        """Await something that is no matter of the job's newest occurrence."""
        if not self._await(look, within):
            raise StepFailed(f"{step}: expected that {self.job} {expected}\n{self._shown()}")
        if told:
            self.stage.teller.tell("ok", f"{step}: {self.job} {expected}")

    def see_mail(
        self, step: str, expected: str, *, box: str, has: Callable[[Json], bool], within: timedelta = ALWAYS
    ) -> Json:
        """Await a mail of ontrack about the job in this mailbox."""

        def look() -> Json | None:
            return next((each for each in self._mails(box) if has(each)), None)

        found = self._await(look, within)
        if found is None:
            last = "\n".join(f"--- {each['subject']}\n{each['text']}" for each in self._mails(box)[-SHOWN_MAILS:])
            raise StepFailed(f"{step}: expected that {self.job} {expected}\n{self._shown()}\nmail: {last or 'none'}")
        self.stage.teller.tell("ok", f"{step}: {self.job} {expected}")
        return found

    def _mails(self, box: str) -> list[Json]:
        mails = self.stage.mail.mails(box)
        return [each for each in mails if each["answers"] is None and self.job in each["subject"]]

    def click(self, person: str, action: str, seen: Seen) -> None:
        """Press a button of the root message."""
        self.stage.workspace.click(user=person, action_id=action, channel=seen.channel, ts=seen.root["ts"])

    def fill(self, person: str, action: str, seen: Seen, values: Callable[[Json], Json], *, more: bool) -> None:
        """Open a modal from the root (through More if it stands there), fill it in and submit it."""
        with self.stage.hand_of(person):
            if more:
                self.click(person, "more", seen)
                view = self._modal(person, "modal_more")
                self.stage.workspace.click(user=person, action_id=action, view_id=view["id"])
            else:
                self.click(person, action, seen)
            view = self._modal(person, f"modal_{action}")
            answer = self.stage.workspace.submit(user=person, values=values(view), view_id=view["id"])
            if not answer["ok"]:
                raise StepFailed(f"{self.job}: {person}'s {action} was not taken: {answer}")

    def _modal(self, person: str, callback_id: str) -> Json:
        def look() -> Json | None:
            view = self.stage.witness.view(person)
            return view if view is not None and view["callback_id"] == callback_id else None

        found = self._await(look, timedelta(seconds=10))
        if found is None:
            raise StepFailed(f"{self.job}: {callback_id} did not open for {person}\n{self._shown()}")
        return found

    def _await(self, look: Callable[[], Found | None], within: timedelta) -> Found | None:
        until = min(self.stage.teller.until, time.monotonic() + within.total_seconds())
        return self.stage.witness.wait(look, until=until)

    def _unseen(
        self, step: str, expected: str, *, thread: Callable[[Seen], bool], record: Callable[[Seen], bool]
    ) -> str:
        seen = self.stage.witness.seen(self.job)
        told = [
            f"{where} {'shows it' if seen is not None and look(seen) else 'does not show it'}"
            for where, look in (("the thread", thread), ("the database", record))
        ]
        return f"{step}: expected that {self.job} {expected}; {', '.join(told)}\n{self._shown()}"

    def _shown(self) -> str:
        seen = self.stage.witness.seen(self.job)
        if seen is None:
            return "seen: no thread and no record of it"
        incident = seen.incident
        record = f"record {incident.id}: {incident.status}, {incident.outcome or incident.reason}"
        texts = (seen.root_text, *seen.reply_texts[-SHOWN_REPLIES:])
        return "\n".join((f"seen: {record}", *texts))
