"""What a guard writes into its run directory: the output of the command, capped, and whole small files.

Standard library only, as all of the guard: it needs nothing that an upgrade of ontrack could take away.
"""

import contextlib
import json
import os
from typing import Any

HEAD = 5_000_000
TAIL = 2_500_000


class Log:
    """What the command wrote: the first 5 MB as they come, then only the newest in two parts that replace each other.

    A full disk costs output, never the run. Whoever reads after a crash finds the parts where they are.
    """

    def __init__(self) -> None:
        self.head: int | None = open_new("log")
        self.tail: int | None = None
        self.left, self.room = HEAD, 0
        self.dropped = 0
        self.older = 0

    def write(self, block: bytes) -> None:
        head, tail = block[: self.left], block[self.left :]
        if head:
            self.left -= len(head)
            self.put(self.head, head)
        while tail:
            if self.room == 0:
                self.turn()
            part, tail = tail[: self.room], tail[self.room :]
            self.room -= len(part)
            self.put(self.tail, part)

    def turn(self) -> None:
        if self.tail is not None:
            os.close(self.tail)
            self.dropped += self.older
            self.older = TAIL
            os.replace("log.new", "log.old")
        self.tail, self.room = open_new("log.new"), TAIL

    def put(self, number: int | None, block: bytes) -> None:
        try:
            while number is not None and block:
                block = block[os.write(number, block) :]
        except OSError:
            self.dropped += len(block)

    def close(self) -> None:
        """Make one file of the parts."""
        if self.tail is not None and self.head is not None:
            if self.dropped:
                self.put(self.head, f"\n[... {self.dropped} bytes left out ...]\n".encode())
            for name in ("log.old", "log.new"):
                with contextlib.suppress(FileNotFoundError), open(name, "rb") as part:
                    self.put(self.head, part.read())
                    os.unlink(name)
        for number in (self.head, self.tail):
            if number is not None:
                with contextlib.suppress(OSError):
                    os.fsync(number)
                    os.close(number)


def open_new(name: str) -> int | None:
    try:
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError:
        return None


def write_whole(path: str, value: dict[str, Any]) -> None:
    """The file is there whole or not at all."""
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)
    sync(os.path.dirname(path) or ".")


def sync(directory: str) -> None:
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
