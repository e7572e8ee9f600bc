"""The command language of a reply: one line is one command, or the reason why it is none. It guesses nothing."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.incidents.calendar import at_local
from bot.mail.letters import deceives, trimmed

LONGEST_LINE = 4_000
MORNING = time(9, 0)

_LINE = re.compile(r"(?P<word>[A-Za-z]{1,20})(?P<rest>[^\S\r\n].*|\s*\.)?", re.DOTALL)
_UNTIL = re.compile(r"until ([0-9]{4})-([0-9]{2})-([0-9]{2})(?: (.+))?", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"<(?:link or words|link|words|reason|your reason)>", re.IGNORECASE)


class CommandWord(StrEnum):
    """What a reply may say."""

    ACK = "ack"
    APPROVE = "approve"
    DECLINE = "decline"
    RERUN = "rerun"
    FIXED = "fixed"
    PAUSE = "pause"
    RETIRE = "retire"
    LEAVE = "leave"


_WORDS = {word.value: word for word in CommandWord}
_ALONE = frozenset({CommandWord.ACK, CommandWord.APPROVE, CommandWord.DECLINE, CommandWord.RERUN})
_DATED = frozenset({CommandWord.PAUSE, CommandWord.LEAVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A whole command. `argument`: what follows the word on its line, blanks collapsed; `until_at`: 09:00 of the named day."""

    word: CommandWord
    argument: str | None = None
    until_at: datetime | None = None


class NoCommand(Exception):
    """The line is no command; the text says why, in words for its writer."""


def command_of(line: str, *, zone: str, now: datetime) -> Command:
    """The command that the line is. Raises NoCommand."""
    line = trimmed(line)
    if len(line) > LONGEST_LINE:
        raise NoCommand("the first line is too long")
    if deceives(line):
        raise NoCommand("the first line holds control characters or characters that turn the direction of reading")
    found = _LINE.fullmatch(line)
    word = _word(found["word"]) if found else None
    if found is None or word is None:
        raise NoCommand("the first line is no command")
    argument = " ".join((found["rest"] or "").split())
    if word in _ALONE:
        if argument not in ("", "."):
            raise NoCommand(f'"{word}" stands alone on its line')
        return Command(word=word)
    if _PLACEHOLDER.search(argument):
        raise NoCommand(f'"{word}" still holds a placeholder: write your own words there')
    if word in _DATED:
        return _dated(word, argument, zone=zone, now=now)
    _must_say_something(word, argument)
    return Command(word=word, argument=argument)


def looks_like_a_command(line: str) -> bool:
    """Whether the line begins as a command does, complete or not."""
    found = _LINE.fullmatch(trimmed(line))
    return found is not None and _word(found["word"]) is not None


def _word(text: str) -> CommandWord | None:
    return _WORDS.get(text.lower())


def _dated(word: CommandWord, argument: str, *, zone: str, now: datetime) -> Command:
    found = _UNTIL.fullmatch(argument)
    if found is None:
        raise NoCommand(f'write "{word} until YYYY-MM-DD" and a reason')
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
        until_at = at_local(day, MORNING, zone)
    except (ValueError, OverflowError) as failed:
        raise NoCommand(f"{found[1]}-{found[2]}-{found[3]} is no day") from failed
    if day <= now.astimezone(ZoneInfo(zone)).date():
        raise NoCommand(f"{day} is not after today")
    _must_say_something(word, found[4] or "")
    return Command(word=word, argument=argument, until_at=until_at)


def _must_say_something(word: CommandWord, words: str) -> None:
    if not any(one.isalnum() for one in words):
        raise NoCommand(f'"{word}" needs words behind it: what was done, or the reason')
    if words.endswith("?") and "://" not in words.split()[-1]:
        raise NoCommand(f'"{word}" with a question is no decision')
