"""An outage: many jobs of the finance and growth teams that fail alike. It builds policies and names; it asserts nothing."""

from tests.world.people import POLICIES

FINANCE = tuple(f"feed-{number:02}" for number in range(12))
GROWTH = tuple(f"ads-{number:02}" for number in range(4))
EVERYBODY = (*FINANCE, *GROWTH)

_MARK = "safe_to_retry: {{causes: [network.connection_reset], by: {by}, since: 2026-11-02}}"
_CANARY = "  canary: {{jobs: {jobs}, window: 5m, hold: 60m}}\n  storm: {{jobs: {storm}, window: 5m}}\n"


def policies(*, canary: int = 3, storm: int = 1000, backoff: str = "5m", marked: bool = True) -> str:
    """The company's, with these limits; reruns of the feeds and ads are licensed when `marked`."""
    found = POLICIES.replace("defaults:\n", "defaults:\n" + _CANARY.format(jobs=canary, storm=storm))
    found = found.replace("backoff: 5m", f"backoff: {backoff}")
    finance, growth = (_MARK.format(by=by) if marked else "" for by in ("ana@example.com", "U0GIL"))
    jobs = f"""
  - match: shop/feed-*
    team: finance
    schedule: {{cron: "0 3 * * *"}}
    {finance}
  - match: shop/ads-*
    team: growth
    schedule: {{cron: "0 3 * * *"}}
    {growth}
"""
    return found.replace("fallback:", f"{jobs.strip(chr(10))}\nfallback:")
