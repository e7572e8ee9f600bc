"""The threads that drive a process's steps: which it has, and how often each is woken at least. It starts none of them."""

from collections.abc import Mapping
from datetime import timedelta

from bot.compose.mail_side import LATE, MAILBOX
from bot.compose.roles import Role
from bot.compose.service import LEADING, Step
from bot.compose.slack_side import SOCKETS
from bot.compose.source_side import LINEAGE
from bot.ports import Clock
from handlers.ticker import Ticker

SWEEP = timedelta(seconds=30)
EVERY = {
    "policies": timedelta(seconds=5),
    LATE: timedelta(seconds=2),
    LINEAGE: timedelta(seconds=5),
}
OPTIONAL = (SOCKETS, LATE, MAILBOX)
"""Steps that a process drives where it has them."""


def tickers_of(role: Role, steps: Mapping[str, Step], *, clock: Clock) -> dict[str, Ticker]:
    """A ticker for each step that the role drives."""
    optional = [name for name in OPTIONAL if name in steps]
    leading = [LEADING] if role.may_lead else []
    return {
        name: Ticker(step=steps[name], clock=clock, at_least_every=EVERY.get(name, SWEEP))
        for name in (*role.threads, *optional, *leading)
    }
