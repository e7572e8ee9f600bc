"""E-mail addresses are kept or masked as the job's policy says; secrets are masked always."""

from tests.world.fixtures import Build
from tests.world.people import POLICIES

LOG = "RuntimeError: the report for ana.lopez@example.com was refused\n"
HIDING = POLICIES.replace("jobs:\n", "jobs:\n  - {match: shop/orders, redact: {email_addresses: true}}\n", 1)


def test_addresses_are_masked_where_the_policy_says_so(build_world: Build) -> None:
    world = build_world(policies=HIDING)
    world.fails("orders", at="03:12", log=LOG)
    world.fails("report", at="03:13", log=LOG)

    assert "ana.lopez" not in world.incident("orders").failure.message
    assert not [reply for reply in world.replies("orders") if "ana.lopez" in reply]
    assert "ana.lopez@example.com" in world.incident("report").failure.message
