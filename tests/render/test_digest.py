"""The digest and the report on owner records: golden, within Slack's limits, and a call to nobody."""

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, settings

from bot.incidents.keys import JobKey
from bot.render.digest import Digest, NoticeKind, Warned, content_of, digest, expired, notice, owners, warning
from bot.render.plain import plain
from tests.render import team_cases
from tests.render.cases import HOSTILE, NOW
from tests.render.checking import golden_message, refused
from tests.render.test_hostile import TEXTS


@pytest.mark.parametrize("name", team_cases.DIGESTS)
def test_a_digest_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    rendered = digest(team_cases.DIGESTS[name])

    assert refused(rendered) == []
    golden_message(f"digest {name}", rendered)


def test_the_report_on_owner_records_reads_as_its_golden_file() -> None:
    rendered = owners(team_cases.FAULTS)

    assert refused(rendered) == []
    golden_message("owners", rendered)
    assert "and 25 more" in plain(owners(team_cases.FAULTS * 10))


def test_a_warning_reads_as_its_golden_file() -> None:
    job = JobKey(scheduler="maestro-prod", name="sales.daily")
    found = Warned(job=job, words="will fail: its step load failed for good", at=NOW)
    rendered = warning(found)

    assert refused(rendered) == []
    golden_message("warning", rendered)
    assert repr(notice(msgspec.json.decode(msgspec.json.encode(content_of(NoticeKind.WARNING, found))))) == repr(
        rendered
    )


@pytest.mark.scenario(25)
def test_much_more_than_fits_is_within_the_limits_and_calls_nobody() -> None:
    hostile = Warned(job=JobKey(scheduler="s", name=HOSTILE * 9), words=HOSTILE * 9, at=NOW)
    hard = (digest(team_cases.hostile_digest()), owners(team_cases.hostile_home().faults), warning(hostile))
    for rendered in hard:
        assert refused(rendered) == []
        assert "<!" not in rendered.text.replace("<!date^", "")
        assert "<@" not in rendered.text


@settings(max_examples=20, deadline=None)
@given(TEXTS)
def test_no_text_from_outside_makes_slack_refuse_or_call(text: str) -> None:
    rendered = digest(team_cases.hostile_digest(text))

    assert refused(rendered) == []
    assert "<!" not in rendered.text.replace("<!date^", "")
    assert "<@" not in rendered.text


def test_what_was_frozen_is_rendered_as_it_was() -> None:
    for found in (*team_cases.DIGESTS.values(), team_cases.hostile_digest(HOSTILE)):
        content = content_of(NoticeKind.DIGEST, found, until=NOW)
        kept = msgspec.json.decode(msgspec.json.encode(content))
        assert repr(notice(kept)) == repr(digest(found))
    kept = msgspec.json.decode(msgspec.json.encode(content_of(NoticeKind.OWNERS, team_cases.FAULTS)))
    assert repr(notice(kept)) == repr(owners(team_cases.FAULTS))


def test_with_nothing_to_say_there_is_no_message() -> None:
    empty = Digest(team="growth", zone="UTC", at=NOW, since=NOW)

    assert notice(content_of(NoticeKind.DIGEST, empty)) is None
    assert notice(content_of(NoticeKind.DIGEST, replace(empty, recovered=9))) is None
    assert notice(content_of(NoticeKind.DIGEST, replace(empty, open_count=1))) is not None


def test_a_notice_is_worth_sending_until_its_hour_is_over() -> None:
    content = content_of(NoticeKind.DIGEST, team_cases.FULL_DIGEST, until=NOW)

    assert expired(content, NOW)
    assert not expired(content, NOW - timedelta(seconds=1))
    assert not expired(content_of(NoticeKind.OWNERS, ()), NOW + timedelta(days=900))
