"""The shapes of what may be asked of the control API; it must carry nothing out."""

from typing import Any

from bot.sandbox.slack.callbacks import Tamper
from bot.sandbox.slack.rules import Check, Fields, Walk, boolean, integer, items, one_of, record, string

LONG = 100_000
FOREVER = 1_000_000


def anything(value: Any, walk: Walk, at: str) -> None:
    """Taken as it is; what reads it later judges it."""


def an_object(value: Any, walk: Walk, at: str) -> None:
    if not isinstance(value, dict):
        walk.refuse(at, "wrong_type", "must be an object")


def nullable(rule: Check) -> Check:
    def check(value: Any, walk: Walk, at: str) -> None:
        if value is not None:
            rule(value, walk, at)

    return check


word = string(most=3_000)
text = string(most=LONG, least=0)
words = items(word, most=10_000, least=0)
ACTING: Fields = {"tamper": one_of(*Tamper)}

_user = record(
    required={"id": word},
    optional={
        "name": word,
        "real_name": word,
        "email": text,
        "role": text,
        "tz": word,
        "is_bot": boolean,
        "deleted": boolean,
        "is_restricted": boolean,
        "is_stranger": boolean,
    },
)
_usergroup = record(required={"id": word, "handle": word}, optional={"name": word, "users": words, "disabled": boolean})

WISHES: dict[str, Check] = {
    "click": record(
        required={"user": word, "action_id": word},
        optional={"channel": word, "ts": word, "view_id": word, "block_id": word, "value": anything, **ACTING},
    ),
    "submit": record(required={"user": word}, optional={"view_id": word, "values": an_object, **ACTING}),
    "close": record(required={"user": word}, optional={"view_id": word, **ACTING}),
    "command": record(required={"user": word, "channel": word, "command": word}, optional={"text": text, **ACTING}),
    "home": record(required={"user": word}, optional=ACTING),
    "say": record(required={"user": word, "channel": word, "text": text}, optional={"thread_ts": word}),
    "dismiss": record(required={"ts": word}, optional={"user": word}),
    "delete": record(required={"channel": word, "ts": word}),
    "reset": record(required={}),
    "away": record(required={"away": boolean}),
    "channel": record(
        required={"channel": word},
        optional={
            "name": word,
            "archived": boolean,
            "private": boolean,
            "bot_member": boolean,
            "members": words,
            "topic": text,
        },
    ),
    "users": record(
        required={}, optional={"users": items(_user, most=1_000), "usergroups": items(_usergroup, most=1_000)}
    ),
    "token": record(required={}, optional={"revoked": boolean, "scopes": words}),
    "rates": record(
        required={},
        optional={
            "enabled": boolean,
            "special_every_ms": integer(least=1, most=FOREVER),
            "special_burst": integer(least=1, most=FOREVER),
            "per_minute": record(required={}, optional={tier: integer(least=1, most=FOREVER) for tier in "1234"}),
        },
    ),
    "sockets": record(required={"act": one_of("drop", "silence", "refresh", "count")}, optional={}),
    "faults": record(
        required={"method": word},
        optional={
            "channel": nullable(word),
            "contains": nullable(word),
            "count": nullable(integer(least=1, most=FOREVER)),
            "delay_ms": integer(least=0, most=FOREVER),
            "status": nullable(integer(least=300, most=599)),
            "retry_after": nullable(integer(least=0, most=FOREVER)),
            "error": nullable(word),
            "before": nullable(one_of("drop", "hang")),
            "after": nullable(one_of("drop", "hang", "status")),
        },
    ),
}
