"""The people, channels and policies of the world's small company. Values only."""

from typing import Any

PEOPLE = {
    "ana": "U0ANA",
    "olga": "U0OLGA",
    "ben": "U0BEN",
    "maria": "U0MARIA",
    "sam": "U0SAM",
    "rita": "U0RITA",
    "gil": "U0GIL",
}
GROUPS = {"finance-oncall": "S0FINONCALL", "finance-data": "S0FINDATA", "growth-oncall": "S0GROWTH"}
CHANNELS = {"finance": "C0FINANCE", "growth": "C0GROWTH", "jobs": "C0JOBS"}
TOKEN = "xoxb-sandbox"
SECRET = "shared-with-the-world"
SOURCE_TOKEN = "token-of-the-shop-scheduler"


def seed() -> dict[str, Any]:
    """The workspace: Ana and Olga own finance's jobs, Ben is on call for them, Gil owns growth's, Rita is an admin."""
    users = [
        {"id": user, "name": name, "real_name": name.title(), "email": f"{name}@example.com"}
        for name, user in PEOPLE.items()
    ]
    groups = [
        {"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [PEOPLE["ben"]]},
        {"id": GROUPS["finance-data"], "handle": "finance-data", "users": [PEOPLE["ana"], PEOPLE["olga"]]},
        {"id": GROUPS["growth-oncall"], "handle": "growth-oncall", "users": [PEOPLE["gil"]]},
    ]
    everybody = list(PEOPLE.values())
    return {
        "team": {"id": "T0TEAM", "name": "Example", "domain": "example"},
        "users": users,
        "usergroups": groups,
        "channels": [{"id": each, "name": f"{name}-jobs", "members": everybody} for name, each in CHANNELS.items()],
        "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": TOKEN},
        "commands": [{"command": "/job-health"}],
    }


POLICIES = """
version: 1
schedulers:
  shop: {type: events}
teams:
  finance:
    slack: {channel: C0FINANCE, usergroup: S0FINONCALL, team_usergroup: S0FINDATA}
    members: [ana@example.com, U0OLGA]
    manager: maria@example.com
    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: UTC}
    budget: {limit: 40, unit: run_hours, per: day}
  growth:
    slack: {channel: C0GROWTH, usergroup: S0GROWTH}
    members: [U0GIL]
defaults:
  team: finance
  late: {grace: 15m, start: off, finish: off}
  rerun: {max: 2, backoff: 5m, budget: {limit: 4, unit: run_hours, per: day}}
  chase:
    before_next_run: 30m
    ladder: [{after: 15m, ask: oncall}, {after: 30m, ask: team}, {after: 1h, ask: oncall, by: [dm]}]
jobs:
  - {match: shop/revenue, schedule: {cron: "0 3 * * *"}, downstream: [shop/board_pack]}
  - {match: shop/board_pack, schedule: {cron: "0 6 * * *"}}
  - {match: shop/orders, schedule: {cron: "0 3 * * *"}}
  - {match: shop/stock, schedule: {cron: "0 * * * *"}, recovers_by: any_later_run}
  - {match: shop/minutely, schedule: {every: 1m}, open_after: 1}
  - {match: shop/by_hand_only, watch_manual: true}
  - {match: shop/report, urgency: low, schedule: {cron: "0 3 * * *"}}
  - {match: shop/ads, team: growth, schedule: {cron: "0 3 * * *"}}
  - match: shop/revenue
    team: finance
    safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}
fallback: {channel: C0JOBS}
admins: [U0RITA]
"""

RESET = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 41, in pull
    rows = connection.recv(4096)
ConnectionResetError: [Errno 104] Connection reset by peer
"""
LOST_COLUMN = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 52, in check
psycopg.errors.UndefinedColumn: column "amount" does not exist
"""
STRANGE = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 60, in sums
frobnicate.GizmoUnhappy: gizmo 7 said no
"""
