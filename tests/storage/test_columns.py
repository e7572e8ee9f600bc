"""How instants, amounts and documents are stored."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects.sqlite import dialect

from bot.incidents.memory import JobMemory
from storage.columns import Amount, Document, Instant, NominalTime

SQLITE = dialect()
INSTANTS = st.datetimes(timezones=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")]))


@given(INSTANTS)
def test_an_instant_comes_back_to_the_microsecond(instant: datetime) -> None:
    for type_ in (Instant(), NominalTime()):
        found = type_.process_result_value(type_.process_bind_param(instant, SQLITE), SQLITE)

        assert found == instant.astimezone(UTC)
        assert found is not None
        assert found.utcoffset() == timedelta(0)


def test_an_instant_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        Instant().process_bind_param(datetime(2026, 11, 30), SQLITE)  # noqa: DTZ001 that is the point


def test_no_nominal_time_has_a_place_of_its_own_in_a_unique_key() -> None:
    stored = NominalTime().process_bind_param(None, SQLITE)

    assert stored != NominalTime().process_bind_param(datetime(1970, 1, 1, tzinfo=UTC), SQLITE)
    assert NominalTime().process_result_value(stored, SQLITE) is None


@given(st.lists(st.integers(min_value=0, max_value=10_000_000).map(lambda number: number / 1000)))
def test_amounts_that_are_added_and_taken_back_leave_nothing(amounts: list[float]) -> None:
    stored = [Amount().process_bind_param(amount, SQLITE) or 0 for amount in amounts]
    back = [Amount().process_bind_param(-amount, SQLITE) or 0 for amount in amounts]

    assert sum(stored) + sum(back) == 0
    assert [Amount().process_result_value(number, SQLITE) for number in stored] == amounts


def test_fields_of_a_newer_version_are_ignored() -> None:
    document = Document[JobMemory](JobMemory)
    written = msgspec.json.decode(document.process_bind_param(JobMemory(failures_in_a_row=3), SQLITE) or "")
    written["from_next_year"] = {"a": 1}

    assert document.process_result_value(msgspec.json.encode(written).decode(), SQLITE) == JobMemory(
        failures_in_a_row=3
    )
