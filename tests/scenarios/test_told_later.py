"""What is told or drawn long after it happened speaks of then: the last good run is the one before the failure."""

from datetime import timedelta

from tests.world.people import LOST_COLUMN
from tests.world.world import World


def test_evidence_that_goes_out_late_names_the_good_run_before_the_failure(world: World) -> None:
    world.moves_to("02:00")
    world.has_run("stock", times=3)
    with world.undelivered():
        world.fails("stock", at="02:12", log=LOST_COLUMN)
        world.succeeds("stock", at="03:12")

    thread = world.thread("stock")
    line = next(line for line in thread.splitlines() if "Last good run" in line)
    assert "01:00" in line
    assert "03:" not in line


def test_a_settled_root_that_is_drawn_anew_still_names_its_run_by_its_time(world: World) -> None:
    world.moves_to("02:00")
    world.fails("stock", at="02:12", log=LOST_COLUMN)
    world.succeeds("stock", at="03:12")
    drawn = world.text_of(world.root("stock"))
    for hour in range(4, 10):
        world.succeeds("stock", at=f"{hour:02}:12")

    record = world.incident("stock")
    snapshot = world.service.records.snapshot(record.record, record.number)
    assert snapshot is not None
    assert snapshot.closed_for == record.closed_at.replace(minute=0, second=0, microsecond=0)  # type: ignore[union-attr]
    assert snapshot.last_good is None or snapshot.last_good.ended_at < record.opened_at + timedelta(minutes=1)
    assert "03:00" in drawn
