"""The people and policies of the races. Values only."""

from bot.incidents.people import Person

ANA, BEN, GIL = (Person(id=f"U0{name.upper()}", name=name) for name in ("ana", "ben", "gil"))
GROUPS = {"S0ONCALL": (BEN.id,)}

POLICIES = """
version: 1
schedulers:
  shop: {type: events}
teams:
  finance:
    slack: {channel: C0FINANCE, usergroup: S0ONCALL}
    members: [U0ANA]
    budget: {limit: 40, unit: run_hours, per: day}
defaults:
  team: finance
  late: {grace: 15m, start: off, finish: off}
  rerun: {max: 2, backoff: 5m, budget: {limit: 4, unit: run_hours, per: day}}
jobs:
  - {match: shop/*, schedule: {cron: "0 3 * * *"}}
  - match: shop/*
    team: finance
    safe_to_retry: {causes: [network.connection_reset], by: U0ANA, since: 2026-11-02}
fallback: {channel: C0JOBS}
"""
TIGHT = POLICIES.replace("budget: {limit: 40,", "budget: {limit: 1,")
WATCHING = POLICIES.replace("defaults:", "defaults:\n  mode: observe")
UNMARKED = POLICIES.replace("[network.connection_reset]", "[service.throttled]")
