"""Sorts what a mail server says when it refuses into what delivery must know: never, later, or not this address.

It must not send, wait or read a clock.
"""

import re
from datetime import timedelta
from enum import StrEnum

from bot.delivery.refusals import RecipientRefused
from bot.ports import SendFailed

UNTIL_REPAIRED = timedelta(minutes=1)
LOST = "smtp_connection_lost"
TOO_LATE = "smtp_no_answer_in_time"
CLOSING = 421

_ENHANCED = re.compile(r"([245])\.(\d{1,3})\.(\d{1,3})\b")
_NOBODY_THERE = frozenset({550, 551, 553, 556})
"""Refusals of a recipient that speak of the address (RFC 5321, section 4.2.3); 552 and 554 speak of the mail."""
_NOT_THE_ADDRESS = ("5.3.", "5.5.1", "5.5.3", "5.7.")
"""RFC 3463: the server's own state, the order of commands, its policy towards us."""
_SAID_AT_MOST = 200


class Step(StrEnum):
    """What was asked of the server."""

    GREETING = "greeting"
    TLS = "tls"
    LOGIN = "login"
    SENDER = "sender"
    RECIPIENT = "recipient"
    TEXT = "text"


OF_THE_MAIL = frozenset({Step.RECIPIENT, Step.TEXT})
"""What is refused for good here is refused for good; before that it is about us, and a person can mend it."""


def refusal(step: Step, code: int, said: bytes) -> SendFailed:
    """What an answer that is no yes means. Its code is the enhanced status, or the plain one as in `smtp_550`."""
    words = in_words(said)
    found = _ENHANCED.match(words)
    status = found[0] if found and found[1] == str(code)[0] else ""
    named = status or (f"smtp_{code}" if 400 <= code < 600 else "smtp_bad_answer")
    failed = _sorted(step, code, status, named, words)
    failed.add_note(f"said: {code} {words}")
    return failed


def in_words(said: bytes) -> str:
    return " ".join(said.decode("utf-8", "replace").split())[:_SAID_AT_MOST]


def is_about_the_sender(step: Step, code: int, said: bytes) -> bool:
    """The server lets us write in another address's name only: by its word at once, or once it has seen the mail."""
    permanent = 500 <= code < 600
    return permanent and (step is Step.SENDER or "sendas" in in_words(said).lower().replace(" ", ""))


def lost(failed: Exception, *, under_way: bool, late: bool) -> SendFailed:
    """The connection ended. `under_way`: the text was being sent, so that it may have arrived."""
    made = SendFailed(TOO_LATE if late else LOST, uncertain=under_way)
    made.add_note(f"said: {worded(failed)}")
    return made


def worded(failed: BaseException) -> str:
    """What went wrong, in the system's words."""
    text = failed.strerror if isinstance(failed, OSError) and failed.strerror else str(failed)
    return str(text)[:_SAID_AT_MOST] or type(failed).__name__


def said_of(failed: SendFailed) -> str:
    """The server's or the system's own words about a failure; empty where there are none."""
    notes = getattr(failed, "__notes__", ())
    return next((note.removeprefix("said: ") for note in notes if note.startswith("said: ")), "")


def _sorted(step: Step, code: int, status: str, named: str, words: str) -> SendFailed:
    if step not in OF_THE_MAIL:
        return SendFailed(named, retry_after=UNTIL_REPAIRED)
    if not 500 <= code < 600:
        return SendFailed(named)
    if step is Step.RECIPIENT and _is_about_the_address(code, status, words):
        return RecipientRefused(named)
    return SendFailed(named, permanent=True)


def _is_about_the_address(code: int, status: str, words: str) -> bool:
    if status:
        return not status.startswith(_NOT_THE_ADDRESS)
    return code in _NOBODY_THERE and "relay" not in words.lower()
