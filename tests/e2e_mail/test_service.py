"""The whole service over real mail servers: a mail goes out, an answer comes in, the record moves, its writer is told."""

import signal
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e_mail.office import ANA, FALLBACK, LOCAL, OTTO, Office
from tests.mailservers.delivering import Layout, bounce_of
from tests.mailservers.smtp_server import HANGS_UP

pytestmark = pytest.mark.timeout(300)
LOAD = """
echo "$ONTRACK_NOMINAL_TIME" >> ran
test "$ONTRACK_NOMINAL_TIME" != "$(head -n 1 ran)" && exit 0
test -e mended && exit 0
echo "ConnectionResetError: [Errno 104] Connection reset by peer" >&2
exit 1
"""

TWO_RUNS = timedelta(seconds=90)


def test_an_owner_who_is_not_in_slack_takes_it_and_fixes_it_by_mail(office: Office) -> None:
    process = office.starts()
    office.company.fails(process, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    office.post.answers(ask, "ack", layout=Layout.OUTLOOK)
    office.sees(f"On it: {OTTO}")
    office.post.answers(ask, "fixed the feed is back", layout=Layout.APPLE)
    told = office.post.smtp.mail_to(OTTO, number=3)
    office.sees("the feed is back")

    assert "orders" in ask.header("Subject")
    assert {sent.header("Subject") for sent in office.post.smtp.taken} == {ask.header("Subject")}
    assert told.header("References").split()[0] == ask.header("References").split()[0]
    assert told.header("Auto-Submitted") == "auto-replied"


@pytest.mark.parametrize("copies", [2, 3])
def test_a_mail_that_lies_there_twice_acts_and_is_answered_once(office: Office, copies: int) -> None:
    process = office.starts()
    office.company.fails(process, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    answer = office.post.answers(ask, "ack")
    for _ in range(copies - 1):
        office.post.imap.put(answer)
    office.post.answers(ask, "fixed the feed is back")
    office.sees("the feed is back")
    office.post.smtp.mail_to(OTTO, number=3)

    assert len(office.mails_to(OTTO)) == 3


def test_an_answer_that_came_while_nothing_ran_is_taken_by_the_next_life(office: Office) -> None:
    first = office.starts()
    office.company.fails(first, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    office.post.answers(ask, "ack")
    office.sees(f"On it: {OTTO}")
    office.post.smtp.mail_to(OTTO, number=2)
    office.kill(first)
    office.post.answers(ask, "fixed the feed is back")
    office.starts()
    office.sees("the feed is back")
    office.post.smtp.mail_to(OTTO, number=3)

    assert len(office.mails_to(OTTO)) == 3


def test_a_mailbox_that_was_away_and_numbers_its_mails_anew_does_nothing_twice(office: Office) -> None:
    process = office.starts()
    office.company.fails(process, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    answer = office.post.answers(ask, "ack")
    office.sees(f"On it: {OTTO}")
    office.post.smtp.mail_to(OTTO, number=2)
    office.post.imap.kill()
    office.post.imap.forget()
    office.post.imap.start()
    office.post.imap.put(answer)
    office.post.answers(ask, "fixed the feed is back")
    office.sees("the feed is back")
    office.post.smtp.mail_to(OTTO, number=3)

    assert len(office.mails_to(OTTO)) == 3


def test_what_nobody_is_proven_to_have_written_does_nothing_and_is_not_answered(office: Office) -> None:
    process = office.starts()
    office.company.fails(process, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    office.post.answers(ask, "retire replaced by another", proven=False)
    office.post.answers(ask, "ack", by="mallory@elsewhere.example.net")
    office.post.answers(ask, "ack")
    office.sees(f"On it: {OTTO}")
    office.post.smtp.mail_to(OTTO, number=2)

    assert "retire" not in office.root()
    assert len(office.mails_to(OTTO)) == 2


def test_an_ask_that_comes_back_goes_to_the_fallback_at_once(office: Office) -> None:
    process = office.starts()
    office.company.fails(process, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    office.post.imap.put(bounce_of(ask, at=datetime.now(UTC)))
    office.post.smtp.mail_to(FALLBACK)

    assert len(office.mails_to(OTTO)) == 1


def test_an_ask_that_is_refused_goes_to_the_fallback_at_once(office: Office) -> None:
    process = office.starts()
    office.post.smtp.will("RCPT", "550 5.1.1 No such user here")
    office.company.fails(process, "orders")
    office.post.smtp.mail_to(FALLBACK)

    assert office.mails_to(OTTO) == []


def test_a_process_that_waits_for_mail_ends_at_once(office: Office) -> None:
    process = office.starts()
    process.said("the mailbox is read")
    process.tell(signal.SIGTERM)

    assert process.ends() == 0
    process.said("stopped")
    assert not process.has_said("stopped in the middle")


@pytest.mark.slow
@pytest.mark.scenario(5)
def test_while_slack_is_away_the_ask_goes_by_mail_and_slack_then_shows_where_it_stands(office: Office) -> None:
    process = office.starts()
    office.company.slack.go_away()
    office.company.fails(process, "ads")
    ask = office.post.smtp.mail_to(ANA)
    office.post.answers(ask, "ack")
    office.post.smtp.mail_to(ANA, number=2)
    office.company.slack.go_away(False)
    office.sees("On it: ana", "growth")

    assert len(office.company.roots("growth")) == 1
    assert len(office.mails_to(ANA)) == 2


@pytest.mark.slow
def test_a_rerun_that_is_approved_by_mail_is_done_and_its_owner_hears_how_it_went(large_office: Office) -> None:
    office = large_office
    office.company.has_policies(LOCAL)
    (office.company.directory / "load.sh").write_text(LOAD)
    for role in ("web", "worker", "clock"):
        office.starts(role)
    ask = office.post.smtp.sees(
        lambda taken: next((sent for sent in taken if "approve" in sent.part("plain").split()), None), within=TWO_RUNS
    )
    (office.company.directory / "mended").touch()
    office.post.answers(ask, "approve")
    office.sees("load recovered")
    office.post.smtp.sees(
        lambda taken: next((sent for sent in taken if "recovered" in sent.part("plain").splitlines()[0]), None)
    )

    nominal_times = (office.company.directory / "ran").read_text().split()
    assert nominal_times.count(nominal_times[0]) == 2
    assert ask.to == (OTTO,)


@pytest.mark.slow
def test_the_next_leader_reads_on_where_the_last_one_was_killed(large_office: Office) -> None:
    office = large_office
    web, _, leader = [office.starts(role) for role in ("web", "worker", "clock")]
    leader.said("the mailbox is read")
    second = office.starts("clock")
    office.company.fails(web, "orders")
    ask = office.post.smtp.mail_to(OTTO)
    assert not second.has_said("the mailbox is read")

    office.kill(leader)
    office.post.answers(ask, "ack")
    office.sees(f"On it: {OTTO}")
    office.post.smtp.mail_to(OTTO, number=2)

    assert second.has_said("leads")


@pytest.mark.slow
def test_a_mail_whose_answer_was_lost_is_sent_once_more_as_the_same_mail(office: Office) -> None:
    process = office.starts()
    office.post.smtp.will("DATA", HANGS_UP, HANGS_UP)
    office.company.fails(process, "orders")
    first, again = [office.post.smtp.mail_to(OTTO, number=number) for number in (1, 2)]
    office.post.answers(again, "ack")
    office.sees(f"On it: {OTTO}")
    office.post.smtp.mail_to(OTTO, number=3)

    assert first.header("Message-ID") == again.header("Message-ID")
    assert len(office.mails_to(OTTO)) == 3
