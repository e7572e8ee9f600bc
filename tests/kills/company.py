"""The company that is played while processes are killed: its people, teams, jobs, and what the product is told of them.

Values only.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"
SHOP = "shop"
OWNER, ONCALL = "U0ANA", "U0BEN"
BOT_TOKEN, SECRET, SHOP_TOKEN, SHOP_SECRET = (
    "xoxb-kills",
    "signs-the-clicks",
    "token-of-the-shops-scheduler",
    "signs-requests",
)
LOCAL_JOB, LOCAL_RUNS, LOCAL_EVERY = "ledger", "ledger.txt", 3

RESET = "ConnectionResetError: [Errno 104] Connection reset by peer"
STRANGE = "frobnicate.GizmoUnhappy: gizmo 7 said no"

LEDGER = (
    f'echo "$ONTRACK_NOMINAL_TIME $ONTRACK_GENERATION" >>{LOCAL_RUNS}; [ $(wc -l <{LOCAL_RUNS}) -lt 3 ] && exit 0; '
    f'case $ONTRACK_NOMINAL_TIME:$ONTRACK_GENERATION in *5Z:0) echo "{RESET}" >&2; exit 1;; esac'
)


def channel_of(team: str) -> str:
    return f"C0{team.upper()}"


def seed(teams: Iterable[str]) -> dict[str, Any]:
    """The workspace: Ana owns every job, Ben is on call, each team has a channel."""
    people = {"ana": OWNER, "ben": ONCALL}
    users = [
        {"id": id, "name": name, "real_name": name.title(), "email": f"{name}@example.com"}
        for name, id in people.items()
    ]
    return {
        "team": {"id": "T0TEAM", "name": "Example", "domain": "example"},
        "users": users,
        "usergroups": [{"id": "S0ONCALL", "handle": "oncall", "users": [ONCALL]}],
        "channels": [
            {"id": channel_of(team), "name": f"{team}-jobs", "members": list(people.values())}
            for team in (*teams, "all")
        ],
        "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": BOT_TOKEN},
        "commands": [],
    }


def policies(teams: Iterable[str], *, scheduler: str, local: bool) -> str:
    """A job's team is the part of its name before the dash; everything that waits for minutes waits for moments."""
    jobs = f"{{{LOCAL_JOB}: {{command: {_quoted(LEDGER)}, every: {LOCAL_EVERY}s, timeout: 30s}}}}" if local else "{}"
    lines = [
        "version: 1",
        "schedulers:",
        f"  {SHOP}: {{type: webhook, url: {_quoted(scheduler)}, secret: {SHOP_SECRET}, can: [rerun, pause, resume]}}",
        f"  cron: {{type: local, jobs: {jobs}}}",
        "teams:",
        *(f"  {team}: {_team(team)}" for team in (*teams, "all")),
        "defaults:",
        "  team: all",
        "  late: {grace: 15m, start: off, finish: off}",
        "  rerun: {max: 2, backoff: 200ms, budget: {limit: 100000, unit: run_hours, per: day}}",
        "  chase: {ladder: [{after: 3s, ask: oncall}, {after: 1h, ask: team}]}",
        "  storm: {jobs: 100000, window: 1s}",
        "  canary: {jobs: 100000, window: 1s}",
        "jobs:",
        *(f"  - {{match: '{SHOP}/{team}-*', team: {team}, safe_to_retry: {_MARK}}}" for team in teams),
        f"  - {{match: 'cron/*', team: all, safe_to_retry: {_MARK}}}",
        "fallback: {channel: C0ALL}",
    ]
    return "\n".join(lines) + "\n"


def environment(*, database_url: str, place: Path, slack: str, port: int) -> Mapping[str, str]:
    return {
        "DATABASE_URL": database_url,
        "POLICIES": str(place / "policies.yaml"),
        "PORT": str(port),
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_URL": f"{slack}/api/",
        "SOURCE_TOKENS": f"{SHOP}:{SHOP_TOKEN}",
        "STATE_DIR": str(place / "state"),
        "LOG_FORMAT": "json",
    }


_MARK = "{causes: [network.connection_reset], by: ana@example.com, since: 2026-01-01}"


def _team(team: str) -> str:
    budget = "{limit: 100000, unit: run_hours, per: day}"
    return (
        f"{{slack: {{channel: {channel_of(team)}, usergroup: S0ONCALL}}, members: [ana@example.com], budget: {budget}}}"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
