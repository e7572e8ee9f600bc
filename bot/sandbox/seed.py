"""The sandbox's people, channels and secrets: the workspace's seed and the service's settings. It starts nothing."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.sandbox.control import path_of
from bot.sandbox.world import SampleAction
from bot.settings import Settings

BOT_TOKEN = "xoxb-sandbox"
ANA, BEN, GITA, MARIA, SAM, RITA = "U0ANA", "U0BEN", "U0GITA", "U0MARIA", "U0SAM", "U0RITA"
NORA = "nora@example.com"
PEOPLE = (
    (ANA, "Ana", "owner, finance-data"),
    (BEN, "Ben", "on call, finance-data"),
    (GITA, "Gita", "owner and on call, growth"),
    (MARIA, "Maria", "manager"),
    (SAM, "Sam", "stranger"),
    (RITA, "Rita", "admin"),
)
OUTSIDE = ((NORA, "Nora", "owner, warehouse; not in Slack"),)
"""People who have no account in the workspace: mail is all that reaches them."""
LISTS = (
    ("finance-data@example.com", (ANA, BEN)),
    ("growth@example.com", (GITA,)),
    ("warehouse@example.com", (NORA,)),
    ("jobs@example.com", (MARIA, RITA)),
)
FINANCE, GROWTH, STOCK, FALLBACK = "C0FINANCE", "C0GROWTH", "C0STOCK", "C0JOBS"


def seed(*, actions: Sequence[SampleAction], control: str) -> dict[str, Any]:
    """The workspace to start from; its sample actions are served at the address `control`."""
    everybody = [person for person, *_ in PEOPLE]
    return {
        "team": {"id": "T0SHOP", "name": "The shop", "domain": "shop"},
        "users": [
            {"id": person, "name": name, "real_name": name, "email": address_of(person), "role": role}
            for person, name, role in PEOPLE
        ],
        "usergroups": [
            {"id": "S0FINONCALL", "handle": "finance-oncall", "name": "Finance on-call", "users": [BEN]},
            {"id": "S0FINDATA", "handle": "finance-data", "name": "Finance data", "users": [ANA, BEN]},
        ],
        "channels": [
            {"id": FINANCE, "name": "finance-jobs", "members": everybody, "topic": "Jobs of team finance-data"},
            {"id": GROWTH, "name": "growth-jobs", "members": everybody, "topic": "Jobs of team growth"},
            {"id": STOCK, "name": "stock-jobs", "members": everybody, "topic": "Jobs of team warehouse"},
            {"id": FALLBACK, "name": "jobs", "members": everybody, "topic": "Jobs whose owner leads to nobody"},
        ],
        "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": BOT_TOKEN, "name": "ontrack"},
        "commands": [{"command": "/job-health", "hint": "[team or job] [7d] [vs previous]"}],
        "actions": [{"label": one.label, "hint": one.hint, "url": f"{control}{path_of(one)}"} for one in actions],
        "mailboxes": mailboxes(),
    }


def address_of(person: str) -> str:
    """The address of a person of the workspace, or of one who is not in it."""
    names = {one: name for one, name, _ in PEOPLE}
    return f"{names[person].lower()}@example.com" if person in names else person


def mailboxes() -> list[dict[str, Any]]:
    """The mailboxes that the page shows: whose each is, and who reads a list."""
    return [
        *({"address": address_of(person), "user": person} for person, *_ in PEOPLE),
        *({"address": address, "name": name, "role": role} for address, name, role in OUTSIDE),
        *({"address": address, "readers": [address_of(one) for one in readers]} for address, readers in LISTS),
    ]


def writers() -> dict[str, str]:
    """Everybody who writes mail: names by address."""
    return {address_of(person): name for person, name, _ in (*PEOPLE, *OUTSIDE)}


def settings(directory: Path, *, workspace: str, port: int) -> Settings:
    """The environment of the sandbox's service; `workspace` is the address of the stand-in."""
    return Settings.from_env(
        {
            "DATABASE_URL": f"sqlite:///{directory / 'ontrack.db'}",
            "POLICIES": str(directory / "policies.yaml"),
            "PORT": str(port),
            "PUBLIC_URL": f"http://127.0.0.1:{port}",
            "SECRET_KEY": secrets.token_hex(32),
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": secrets.token_hex(16),
            "SLACK_API_URL": f"{workspace}/api/",
            "SOURCE_TOKENS": f"shop:{secrets.token_hex(16)}",
            "STATE_DIR": str(directory / "state"),
        }
    )
