"""Sorts what Slack says when it refuses into what delivery must know: never, later, or perhaps done.

It must not send, wait or read a clock.
"""

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bot.ports import SendFailed

UNTIL_REPAIRED = timedelta(minutes=1)
UNTIL_CALMER = timedelta(seconds=30)
SHORTEST_WISH = timedelta(seconds=1)
LONGEST_WISH = timedelta(hours=1)

RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
"""Both spellings occur; nothing was done."""

PERHAPS_DONE = frozenset({"internal_error", "fatal_error", "service_unavailable"})
"""Slack documents these as: some of it may have succeeded before the error."""

TRANSIENT = frozenset({"request_timeout", "team_added_to_org", "org_login_required", "external_channel_migrating"})
"""Refused, and the same request may be taken later."""

CONFIGURATION = frozenset(
    {
        "access_denied",
        "accesslimited",
        "account_inactive",
        "ekm_access_denied",
        "enterprise_is_restricted",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
"""Heal when a person repairs the token, its scopes or the installation."""


def refusal(code: str, *, retry_after: timedelta | None = None) -> SendFailed:
    """What an `ok: false` answer with this error name means; a name that nobody knows is permanent."""
    if code in RATE_LIMITED:
        return SendFailed(code, retry_after=retry_after or UNTIL_CALMER)
    if code in CONFIGURATION:
        return SendFailed(code, retry_after=retry_after or UNTIL_REPAIRED)
    if code in PERHAPS_DONE:
        return SendFailed(code, uncertain=True, retry_after=retry_after)
    return SendFailed(code, permanent=code not in TRANSIENT, retry_after=retry_after)


def refusal_of_status(status: int, *, code: str | None = None, retry_after: timedelta | None = None) -> SendFailed:
    """What an answer means by its HTTP status alone: a proxy, a wrong address, a server in trouble."""
    code = code or f"http_{status}"
    if status == 413:
        return SendFailed(code, permanent=True)
    if 400 <= status < 500 and status != 408:
        return SendFailed(code, retry_after=retry_after or UNTIL_REPAIRED)
    return SendFailed(code, uncertain=True, retry_after=retry_after)


def wish(header: str | None, *, now: datetime) -> timedelta | None:
    """The wait that a `Retry-After` header asks for, in seconds or as a date; None without a readable one."""
    if header is None:
        return None
    seconds = _seconds(header, now=now)
    if seconds is None:
        return None
    return timedelta(seconds=min(max(seconds, SHORTEST_WISH.total_seconds()), LONGEST_WISH.total_seconds()))


def _seconds(header: str, *, now: datetime) -> float | None:
    try:
        seconds = float(header)
    except ValueError:
        return _seconds_until(header, now=now)
    return seconds if math.isfinite(seconds) else None


def _seconds_until(header: str, *, now: datetime) -> float | None:
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
