"""Loads the corpus of mails and puts live tokens in; it judges nothing."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from bot.mail import CommandWord, Door, Known, TokenFact, TokenState, Verdict, read_reply

FOLDER = Path(__file__).parent / "corpus"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNERS = frozenset({"ana@example.com", "ben@example.com"})
DOOR = Door(bot="ontrack@bot.example.com", authserv_id="mx.example.com", owners=OWNERS)
WAITING = frozenset(CommandWord) - {CommandWord.RERUN}
TOKENS = {
    "ok": "k3Jq-live_7Yt",
    "stale": "s9Pw-stale_2Xc",
    "other-incident": "o5Lm-incident_4Vb",
    "other-person": "p1Zr-person_8Nd",
    "forged": "f7Gh-forged_6Qa",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One mail of the corpus with its label."""

    id: str
    label: dict[str, Any]

    @property
    def person(self) -> str:
        return str(self.label.get("token_for") or "ana@example.com")

    @property
    def accepted(self) -> list[dict[str, Any]]:
        return [self.label["expect"], *self.label.get("also_ok", [])]


def load_cases() -> tuple[Case, ...]:
    lines = (FOLDER / "index.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Case(id=label["id"], label=label) for label in map(json.loads, lines))


@cache
def message(id_: str) -> bytes:
    """The raw mail with tokens in place of the placeholders."""
    stored = FOLDER / f"{id_}.eml"
    if stored.exists():
        raw = stored.read_bytes()
    else:
        maker = [sys.executable, str(FOLDER / "make_big.py"), id_]
        raw = subprocess.run(maker, capture_output=True, check=True, timeout=60).stdout
    return re.sub(rb"\{TOKEN:([a-z-]+)\}", lambda found: TOKENS[found[1].decode()].encode(), raw)


class Mailbox:
    """What a record remembers from mail to mail: Message-IDs, used tokens, who was told."""

    def __init__(self, person: str) -> None:
        other = next(iter(OWNERS - {person}))
        self._facts = {
            TOKENS["ok"]: TokenFact(state=TokenState.LIVE, person=person, occurrence="4127", offers=WAITING),
            TOKENS["stale"]: TokenFact(state=TokenState.STALE, person=person, occurrence="4100"),
            TOKENS["other-incident"]: TokenFact(state=TokenState.LIVE, person=person, occurrence="4098"),
            TOKENS["other-person"]: TokenFact(state=TokenState.LIVE, person=other, occurrence="4127", offers=WAITING),
        }
        self._done: set[str] = set()
        self._told: set[tuple[str, str]] = set()

    def take(self, raw: bytes) -> Verdict:
        known = Known(
            token=lambda token: self._facts.get(token, TokenFact(state=TokenState.UNKNOWN)),
            done=self._done.__contains__,
            told=lambda sender, occurrence: (sender, occurrence) in self._told,
        )
        verdict = read_reply(raw, door=DOOR, known=known, now=NOW)
        if verdict.acts:
            assert verdict.token
            self._facts[verdict.token] = TokenFact(state=TokenState.USED, occurrence=verdict.occurrence or "")
            self._done.add(verdict.message_id or "")
        if verdict.answer_to:
            self._told.add((verdict.answer_to, verdict.occurrence or ""))
        return verdict


def read_case(case: Case) -> Verdict:
    """Deliver what comes before the case, then the case."""
    mailbox = Mailbox(case.person)
    for earlier in case.label.get("after") or ():
        mailbox.take(message(earlier))
    return mailbox.take(message(case.id))
