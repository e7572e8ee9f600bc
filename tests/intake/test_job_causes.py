"""A failure is read by the rules of its own job, and by those that hold since the file was changed."""

from tests.world.fixtures import Build
from tests.world.people import POLICIES

LOG = "ERROR ledger 2026 is closed until 06:00\n"
CAUSES = "causes: [{id: ledger.closed, title: Ledger closed, when: {message: ledger .* is closed until}}]"


def test_a_jobs_own_causes_are_found_in_its_failures_only(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("jobs:\n", f"jobs:\n  - {{match: shop/orders, {CAUSES}}}\n", 1))
    world.fails("orders", at="03:12", log=LOG)
    world.fails("report", at="03:13", log=LOG)

    assert world.incident("orders").failure.cause == "ledger.closed"
    assert world.incident("report").failure.cause == "unknown"


def test_causes_that_were_added_hold_for_the_next_failure(build_world: Build) -> None:
    world = build_world()
    world.fails("orders", at="03:12", log=LOG)
    world.has_policies(f"{POLICIES}\n{CAUSES}\n")
    world.fails("report", at="03:13", log=LOG)

    assert world.incident("orders").failure.cause == "unknown"
    assert world.incident("report").failure.cause == "ledger.closed"
