"""The mailboxes of the stand-in mail system, and what lies in them; it must not read or write any mail."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail in somebody's mailbox, `message` as it lies there.

    `answers`: the letter that a person's own one answers, None for one that was received. `proven`: whether its sender was.
    """

    id: int
    box: str
    at: datetime
    message: bytes
    answers: int | None = None
    proven: bool = True


@dataclass(slots=True)
class Boxes:
    """The mailboxes by address, in lower case. `number` grows whenever something is laid into one."""

    addresses: frozenset[str]
    _letters: list[Letter] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, addresses: Iterable[str]) -> "Boxes":
        return cls(frozenset(each.lower() for each in addresses))

    @property
    def number(self) -> int:
        return len(self._letters)

    def lay(self, message: bytes, *, box: str, at: datetime, answers: int | None = None, proven: bool = True) -> Letter:
        """Keep a mail; raises `KeyError` where nobody has such an address."""
        if box.lower() not in self.addresses:
            raise KeyError(box)
        with self._lock:
            letter = Letter(
                id=len(self._letters) + 1, box=box.lower(), at=at, message=message, answers=answers, proven=proven
            )
            self._letters.append(letter)
        return letter

    def letter(self, id: int) -> Letter | None:
        return self._letters[id - 1] if 0 < id <= len(self._letters) else None

    def letters(self) -> tuple[Letter, ...]:
        """All of them, the oldest first."""
        return tuple(self._letters)
