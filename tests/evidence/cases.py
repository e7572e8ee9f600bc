"""Loads the corpus of public failures; it judges nothing."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from bot.evidence import ErrorReport

GROUPS = {
    "infrastructure": "node_lost network_blip dns_transient scheduler_lost_task startup_delay",
    "service": (
        "service_unavailable rate_limited_burst db_failover lock_contention concurrent_commit replica_conflict "
        "connection_slots_full package_registry_flake"
    ),
    "resource": "oom oom_suspected disk_problem resource_overload exec_timeout",
    "quota": "quota_long_window payload_limit",
    "data": "schema_drift bad_record data_quality constraint_violation file_missing",
    "code": "code_error sql_error dependency_conflict runtime_crash",
    "configuration": (
        "auth_invalid token_expired_midrun permission_denied missing_object endpoint_misconfig bad_config image_pull_bad"
    ),
    "upstream": "upstream_late upstream_failed",
    "cancelled": "cancelled_by_user superseded_run",
    "unknown": "unknown",
}
GROUP_OF = {slug: group for group, slugs in GROUPS.items() for slug in slugs.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    id: str
    system: str
    error: ErrorReport
    group: str
    retryable: str


def load_cases() -> tuple[Case, ...]:
    """Return the cases of the development corpus."""
    path = Path(__file__).parent / "corpus" / "dev.jsonl"
    return tuple(_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines())


def _case(raw: dict[str, str]) -> Case:
    code = re.match(r"-?\d+", str(raw["exit"]))
    return Case(
        id=raw["id"],
        system=raw["system"],
        error=ErrorReport(log=raw["log"], exit_code=int(code[0]) if code else None),
        group=GROUP_OF[raw["cause"]],
        retryable=raw["retryable"],
    )
