"""The policies of the company that is played, and its environment. Values only.

They differ from the defaults in these keys, since a play cannot wait so long: `rerun.backoff` (5m), and for the two late
DAGs `late.finish` (learned) and `late.grace` (15m).
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SOURCE = "airflow"
FINANCE, FALLBACK = "C0FINANCE", "C0JOBS"
ANA, BEN, ONCALL = "U0ANA", "U0BEN", "S0ONCALL"
BOT_TOKEN, SIGNING_SECRET = "xoxb-e2e", "signs-the-clicks-of-the-play"

POLICIES = """version: 1
schedulers:
  airflow: {{type: airflow, url: {url}, user: ontrack, password: "${{AIRFLOW_PASSWORD}}"}}
teams:
  finance-data:
    slack: {{channel: C0FINANCE, usergroup: S0ONCALL}}
    members: [ana@example.com]
defaults:
  rerun: {{backoff: 5s}}
jobs:
  - match: airflow/*
    team: finance-data
    safe_to_retry: {{causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}}
  - {{match: airflow/finance.ledger, downstream: [airflow/board.pack]}}
  - {{match: airflow/finance.close, late: {{finish: 20s, grace: 5s}}}}
  - {{match: airflow/finance.stock, late: {{grace: 20s}}}}
fallback: {{channel: C0JOBS}}
"""


def seed() -> dict[str, Any]:
    """The workspace: Ana owns the DAGs, Ben is on call."""
    people = {ANA: "ana", BEN: "ben"}
    return {
        "team": {"id": "T0TEAM", "name": "Example", "domain": "example"},
        "users": [
            {"id": id, "name": name, "real_name": name.title(), "email": f"{name}@example.com"}
            for id, name in people.items()
        ],
        "usergroups": [{"id": ONCALL, "handle": "finance-oncall", "users": [BEN]}],
        "channels": [
            {"id": FINANCE, "name": "finance-jobs", "members": list(people)},
            {"id": FALLBACK, "name": "jobs", "members": list(people)},
        ],
        "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": BOT_TOKEN},
        "commands": [],
    }


def environment(*, place: Path, port: int, slack: str, source_token: str, password: str) -> Mapping[str, str]:
    return {
        "DATABASE_URL": f"sqlite:///{place / 'ontrack.db'}",
        "POLICIES": str(place / "policies.yaml"),
        "STATE_DIR": str(place / "state"),
        "PORT": str(port),
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "SECRET_KEY": secrets.token_hex(32),
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": f"{slack}/api/",
        "SOURCE_TOKENS": f"{SOURCE}:{source_token}",
        "AIRFLOW_PASSWORD": password,
        "LOG_FORMAT": "json",
    }
