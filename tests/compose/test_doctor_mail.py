"""What `doctor` and readiness say of mail that is set up wrongly: in words, with what to do about it, and without sending."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.smtp import SmtpMail
from bot.compose.checks import MAIL_EVERY, Checks
from bot.compose.doctor_mail import examine_mail
from bot.compose.finding import Finding, Health
from bot.policies import PolicyFile
from bot.settings import Settings
from storage.opening import open_storage
from tests.adapters.mail_peer import MailPeer, mail_peer
from tests.world.people import POLICIES

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
KEY = "k" * 32


def findings(**env: str) -> list[Finding]:
    known = {"MAIL_FROM": "ontrack@example.com", "SECRET_KEY": KEY, "PUBLIC_URL": "https://ontrack.example.com"}
    return list(examine_mail(Settings.from_env(known | env), clock=lambda: NOW))


def test_a_server_that_can_be_sent_through_is_named_and_sent_nothing() -> None:
    peer = MailPeer(features=("AUTH PLAIN",))
    with mail_peer(peer):
        (found,) = findings(SMTP_URL=f"smtp://ana:secret@127.0.0.1:{peer.port}")

    assert found.health is Health.OK
    assert found.says == f"127.0.0.1:{peer.port}, in the clear on this machine, logged in as ana"
    assert [line for line in peer.heard if line.startswith(("MAIL", "DATA"))] == []


@pytest.mark.parametrize(
    ("peer", "user", "says", "fix"),
    [
        (
            MailPeer(features=("AUTH PLAIN",), script={"AUTH": ["535 5.7.8 no"]}),
            "a:b@",
            "5.7.8 (535 5.7.8 no)",
            "password",
        ),
        (MailPeer(), "a:b@", "smtp_offers_no_login", "take user and password out"),
        (MailPeer(greeting="554 5.3.2 go away"), "", "5.3.2 (554 5.3.2 go away)", "documentation"),
        (MailPeer(greeting="cut"), "", "smtp_connection_lost", "465"),
    ],
    ids=["login", "no login", "not today", "lost"],
)
def test_what_is_wrong_is_told_with_the_fix(peer: MailPeer, user: str, says: str, fix: str) -> None:
    with mail_peer(peer):
        (found,) = findings(SMTP_URL=f"smtp://{user}127.0.0.1:{peer.port}")

    assert found.health is Health.BROKEN
    assert says in found.says
    assert fix in found.fix


def test_a_server_that_is_not_there() -> None:
    (found,) = findings(SMTP_URL="smtp://127.0.0.1:9")

    assert (found.health, "smtp_unreachable" in found.says) == (Health.BROKEN, True)
    assert "SMTP_URL" in found.fix


def test_what_mail_would_lack_is_said() -> None:
    settings = Settings.from_env(
        {
            "SMTP_URL": "smtp://127.0.0.1:9",
            "IMAP_URL": "imap://ana:secret@127.0.0.1:9",
            "MAIL_FROM": "ontrack@example.com",
            "SECRET_KEY": KEY,
        }
    )
    found = list(examine_mail(settings, clock=lambda: NOW))

    assert [one.health for one in found] == [Health.BROKEN, Health.WARN, Health.BROKEN, Health.WARN]
    assert "PUBLIC_URL" in found[1].fix
    assert "MAIL_AUTHSERV_ID" in found[3].fix
    assert all("secret" not in f"{one.says} {one.fix}" for one in found)


def test_nothing_is_said_of_mail_that_is_off() -> None:
    assert list(examine_mail(Settings.from_env({}), clock=lambda: NOW)) == []


def test_readiness_asks_the_server_once_a_minute(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "policies.yaml").write_text(POLICIES)
    peer = MailPeer(script={"EHLO": ["550 5.7.1 not from there"], "HELO": ["550 5.7.1 not from there"]})
    now = [NOW]
    storage = open_storage(sqlite_url, instance="here")
    with mail_peer(peer):
        mail = SmtpMail(url=f"smtp://127.0.0.1:{peer.port}", sender="ontrack@example.com", clock=lambda: now[0])
        policies = PolicyFile(tmp_path / "policies.yaml", env={})
        checks = Checks(
            Settings.from_env({"DATABASE_URL": sqlite_url}), policies, storage, None, lambda: now[0], mail=mail
        )
        state = checks.by_name()["mail"]
        at_first, again = state(), state()
        asked = peer.connections
        now[0] += MAIL_EVERY + timedelta(seconds=1)
        later = state()
        mail.close()
    storage.close()

    assert at_first == again == f"127.0.0.1:{peer.port}: 5.7.1 (550 5.7.1 not from there)"
    assert asked == 1
    assert later == "ok"
