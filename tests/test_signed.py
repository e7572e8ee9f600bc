"""Names that only we can make: what was changed in any letter, or made for another purpose, is nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.signed import ActingLink, Signer

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SIGNER = Signer("k" * 32)
NUMBERS = st.integers(min_value=1, max_value=10**15 - 1)


@given(number=NUMBERS)
def test_a_mail_is_named_in_the_local_part_of_an_address_whatever_a_server_does_to_capitals(number: int) -> None:
    token = SIGNER.mail(number)

    assert len(f"a-rather-long-mailbox+{token}") <= 64
    assert SIGNER.read_mail(token) == SIGNER.read_mail(token.upper()) == number


@given(number=NUMBERS, at=st.integers(min_value=0), letter=st.sampled_from("abz27-0 \n.٣ﬀ"))
def test_a_name_with_one_letter_changed_is_none_of_ours(number: int, at: int, letter: str) -> None:
    token = SIGNER.mail(number)
    at %= len(token)
    changed = token[:at] + letter + token[at + 1 :]

    assert SIGNER.read_mail(changed) == (number if changed.lower() == token else None)


@given(number=NUMBERS)
def test_a_name_is_good_for_its_purpose_alone(number: int) -> None:
    link = ActingLink(mail=number, word="approve")

    assert SIGNER.read_link(SIGNER.link(link), word="approve") == link
    assert SIGNER.read_link(SIGNER.link(link), word="approve", sure=True) is None
    assert SIGNER.read_link(SIGNER.link(link), word="decline") is None
    assert SIGNER.read_link(SIGNER.mail(number), word="approve") is None
    assert SIGNER.read_mail(SIGNER.link(link)) is None
    assert Signer("q" * 32).read_link(SIGNER.link(link), word="approve") is None


@pytest.mark.parametrize(
    ("later", "may"), [(timedelta(0), True), (timedelta(days=30), True), (timedelta(days=31), False)]
)
def test_a_page_may_be_read_to_its_day_and_no_other_page(later: timedelta, may: bool) -> None:
    name = SIGNER.page("/i/7", now=NOW, lasts=timedelta(days=30))

    assert SIGNER.may_read(name, "/i/7", now=NOW + later) is may
    assert not SIGNER.may_read(name, "/i/8", now=NOW)


@given(scheduler=st.text(min_size=1, max_size=40), name=st.text(min_size=1, max_size=40))
def test_a_job_is_named_whatever_it_is_called(scheduler: str, name: str) -> None:
    job = f"{scheduler}/{name}"
    try:
        job.encode()
    except UnicodeEncodeError:
        return
    token = SIGNER.job(job)

    assert SIGNER.read_job(token) == SIGNER.read_job(token.upper()) == job
    assert Signer("q" * 32).read_job(token) is None
    assert SIGNER.read_job(token[:-1] + ("a" if token[-1] != "a" else "b")) is None


@given(junk=st.text())
def test_junk_is_no_name(junk: str) -> None:
    assert SIGNER.read_mail(junk) is None
    assert SIGNER.read_link(junk, word="ack") is None
    assert SIGNER.read_job(junk) is None
    assert not SIGNER.may_read(junk, "/i/7", now=NOW)
    assert not SIGNER.is_form(junk, "ana about 7")


def test_a_form_is_of_one_person_about_one_thing() -> None:
    assert SIGNER.is_form(SIGNER.form("ana about 7"), "ana about 7")
    assert not SIGNER.is_form(SIGNER.form("ana about 7"), "ben about 7")
