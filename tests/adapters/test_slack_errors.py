"""Each thing that Slack may say, and what delivery is told of it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.slack_errors import refusal, refusal_of_status, wish

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "code",
    [
        "invalid_blocks",
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "message_not_found",
        "cant_update_message",
        "edit_window_closed",
        "block_mismatch",
        "is_inactive",
        "msg_too_long",
        "msg_blocks_too_long",
        "no_text",
        "thread_not_found",
        "user_disabled",
        "expired_trigger_id",
        "metadata_too_large",
        "unknown_method",
        "a_name_of_next_year",
    ],
)
def test_what_cannot_be_helped_by_sending_again_is_permanent(code: str) -> None:
    failed = refusal(code)

    assert (failed.code, failed.permanent, failed.uncertain, failed.retry_after) == (code, True, False, None)


@pytest.mark.parametrize(
    "code",
    [
        "invalid_auth",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "missing_scope",
        "not_authed",
        "access_denied",
    ],
)
def test_what_a_person_must_repair_is_asked_again_in_a_minute(code: str) -> None:
    failed = refusal(code)

    assert (failed.code, failed.permanent, failed.uncertain) == (code, False, False)
    assert failed.retry_after == timedelta(minutes=1)


@pytest.mark.parametrize("code", ["ratelimited", "rate_limited", "message_limit_exceeded"])
def test_both_spellings_of_too_fast_wait_as_told_or_for_half_a_minute(code: str) -> None:
    told, untold = refusal(code, retry_after=timedelta(seconds=7)), refusal(code)

    assert (told.permanent, told.uncertain, told.retry_after) == (False, False, timedelta(seconds=7))
    assert untold.retry_after == timedelta(seconds=30)


@pytest.mark.parametrize("code", ["internal_error", "fatal_error", "service_unavailable"])
def test_what_slack_broke_on_may_have_been_done(code: str) -> None:
    failed = refusal(code)

    assert (failed.permanent, failed.uncertain) == (False, True)


@pytest.mark.parametrize("code", ["request_timeout", "team_added_to_org"])
def test_what_passes_by_itself_is_neither_permanent_nor_done(code: str) -> None:
    failed = refusal(code)

    assert (failed.permanent, failed.uncertain) == (False, False)


@pytest.mark.parametrize(
    ("status", "permanent", "uncertain"),
    [
        (302, False, True),
        (403, False, False),
        (404, False, False),
        (408, False, True),
        (413, True, False),
        (500, False, True),
        (503, False, True),
    ],
)
def test_a_bare_status_tells_as_much_as_it_can(status: int, permanent: bool, uncertain: bool) -> None:
    failed = refusal_of_status(status)

    assert (failed.code, failed.permanent, failed.uncertain) == (f"http_{status}", permanent, uncertain)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("30", timedelta(seconds=30)),
        (" 2 ", timedelta(seconds=2)),
        ("0", timedelta(seconds=1)),
        ("-5", timedelta(seconds=1)),
        ("1.5", timedelta(seconds=1.5)),
        ("99999999999999999999", timedelta(hours=1)),
        ("Mon, 30 Nov 2026 03:13:30 GMT", timedelta(seconds=90)),
        ("Mon, 30 Nov 2026 03:00:00 GMT", timedelta(seconds=1)),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wish_to_wait_is_read_in_seconds_or_as_a_date(header: str | None, wait: timedelta | None) -> None:
    assert wish(header, now=NOW) == wait


@given(st.text())
def test_no_header_breaks_the_reading(header: str) -> None:
    wait = wish(header, now=NOW)

    assert wait is None or timedelta(seconds=1) <= wait <= timedelta(hours=1)
