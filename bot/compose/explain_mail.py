"""What `mail explain` does: reads one mail as the mailbox would and says what it would do. It knows no record and sends nothing.

Without the record a token cannot be looked up, so it is taken as live and made for the sender, of an incident that waits for an
approval. The placeholders of the sample mails, `{TOKEN:stale}` and the like, are taken at their word.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from bot.incidents.policy import Unproven
from bot.mail import (
    Answer,
    CommandWord,
    Door,
    Known,
    TokenFact,
    TokenState,
    Verdict,
    mailbox_of,
    one_mailbox,
    read_reply,
)
from bot.policies import Policies

WAITING = frozenset(CommandWord) - {CommandWord.RERUN}
INDENT = 12

_PLACEHOLDER = re.compile(rb"\{TOKEN:([a-z-]{1,40})\}")
_SAMPLES = {
    "stale": TokenFact(state=TokenState.STALE),
    "forged": TokenFact(state=TokenState.UNKNOWN),
    "other-person": TokenFact(state=TokenState.LIVE, person="somebody else"),
}


def explain_mail(
    message: bytes, policies: Policies, *, bot: str | None, authserv_id: str | None, now: datetime
) -> Verdict:
    """What the mail would do. `bot`: our own address; where none is set, the mailbox in which the mail lies."""
    door = Door(
        bot=(one_mailbox(bot or "") or mailbox_of(message) or "ontrack@localhost").lower(),
        authserv_id=authserv_id,
        owners=owners(policies),
        zone=_zone(policies),
        confirms=policies.mail.unproven is Unproven.CONFIRM,
    )
    samples: set[str] = set()

    def named(found: re.Match[bytes]) -> bytes:
        samples.add(found[1].decode())
        return found[1]

    def fact(token: str) -> TokenFact:
        live = TokenFact(state=TokenState.LIVE, occurrence=token, offers=WAITING)
        return _SAMPLES.get(token, live) if token in samples else live

    return read_reply(_PLACEHOLDER.sub(named, message), door=door, known=Known(token=fact), now=now)


def owners(policies: Policies) -> frozenset[str]:
    """The addresses of those who may decide for some team."""
    named = [*policies.admins, *(member for team in policies.teams.values() for member in team.members)]
    return frozenset(name.lower() for name in named if "@" in name)


def mail_object(verdict: Verdict) -> dict[str, Any]:
    """The answer for a program."""
    return {
        "acts": verdict.acts,
        "command": verdict.command.value if verdict.acts and verdict.command else None,
        "argument": verdict.argument if verdict.acts else None,
        "reason": verdict.reason,
        "answer": verdict.answer.value,
    }


def mail_text(verdict: Verdict) -> str:
    """The answer for a person."""
    return "\n".join(_lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    if verdict.acts and verdict.command is not None:
        yield " ".join(("acts:", verdict.command.value, verdict.argument or "")).rstrip()
    else:
        yield "does nothing"
    yield _row("why", verdict.reason)
    if verdict.until_at is not None:
        yield _row("until", verdict.until_at.isoformat())
    yield _row("sender", f"{verdict.sender}, proven" if verdict.sender else "not proven, or a program")
    if verdict.answer is Answer.EXPLANATION:
        yield _row("answer", f"one explanation to {verdict.answer_to}")
    elif verdict.confirms is not None:
        yield _row("answer", f"asks {verdict.confirms} whether they wrote it; only the link in that mail acts")
    else:
        yield _row("answer", "none")
    for bounce in verdict.bounces:
        status = f" ({bounce.status})" if bounce.status else ""
        yield _row("delivery", f"{bounce.kind.value} for {bounce.recipient}{status}")
    if verdict.occurrence is not None:
        yield _row("assumed", "its token is live and made for its sender; the incident waits for an approval")


def _row(name: str, text: str) -> str:
    return f"  {name:{INDENT}}{text}"


def _zone(policies: Policies) -> str:
    """The zone of the only team, UTC where there are several with different ones."""
    zones = {team.hours.zone for team in policies.teams.values() if team.hours is not None}
    return zones.pop() if len(zones) == 1 else "UTC"
