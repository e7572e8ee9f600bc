"""What the page's mail client is given: mails as they changed, HTML that can do no harm, and an answer that is sent once."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bot.ports import MailMessage
from bot.sandbox.mail.client import MailClient
from bot.sandbox.mail.control import MailControl
from bot.sandbox.mail.office import PostOffice
from bot.sandbox.seed import LISTS, OUTSIDE, PEOPLE, mailboxes, seed, writers
from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.server import serve

NOW = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
NORA, GITA = "nora@example.com", "gita@example.com"
HTML = (
    '<!DOCTYPE html><html><HEAD lang="en"><style>p {color: red}</style></head>'
    '<body><p>failed</p><script>top.x = 1</script><a href="https://example.com">Open</a></body></html>'
)


def ask(number: int, to: str) -> MailMessage:
    return MailMessage(
        key=f"ask/{number}",
        message_id=f"<ontrack+{number}-abcdefghijklmnopqrst@sandbox.example>",
        to=to,
        subject="[ontrack] shop/stock_count failed (#1)",
        text="shop/stock_count failed\n\nReply with one of these lines:\n\n    ack\n        You are on it.\n",
        html=HTML,
        references=("<record-1@sandbox.example>",),
        reply_to=f"ontrack+{number}-abcdefghijklmnopqrst@sandbox.example",
    )


@pytest.fixture
def office() -> PostOffice:
    return PostOffice(people=writers(), lists=tuple(address for address, _ in LISTS), clock=lambda: NOW)


@pytest.fixture
def page(office: PostOffice) -> Iterator[httpx.Client]:
    app = build_app(
        callback="http://127.0.0.1:9/slack/events",
        signing_secret="shared",
        clock=lambda: NOW,
        seed=seed(actions=(), control=""),
        beside=MailControl(office, lambda: NOW).routes(),
    )
    server = serve(app)
    with httpx.Client(base_url=server.url) as http:
        yield http
    server.stop()


def state_of(page: httpx.Client) -> dict[str, Any]:
    got: dict[str, Any] = page.get("/control/state").json()
    return got


def test_mails_are_given_again_only_when_one_came(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    first = page.get("/control/mail?since=-1").json()
    idle = page.get(f"/control/mail?since={first['n']}").json()
    office.mail.send(ask(2, GITA))
    later = page.get(f"/control/mail?since={first['n']}").json()

    assert [each["box"] for each in first["mails"]] == [NORA]
    assert idle == {"n": 1, "changed": False}
    assert [each["box"] for each in later["mails"]] == [NORA, GITA]


def test_a_mail_is_given_with_what_it_offers_and_its_conversation(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    (mail,) = page.get("/control/mail").json()["mails"]

    assert (mail["offers"], mail["conversation"]) == (["ack"], "<record-1@sandbox.example>")
    assert (mail["author"], mail["to"], mail["answers"], mail["html"]) == ("ontrack", NORA, None, True)


def test_an_answer_stands_beside_the_mail_and_in_our_inbox(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    with MailClient(str(page.base_url)) as client:
        client.reply(client.mails(NORA)[0], "ack", as_address=NORA)
        client.reply(client.mails(NORA)[0], "retire", as_address=NORA, forged=True)
        asked, *answers = client.mails(NORA)

    assert [(each["answers"], each["proven"]) for each in answers] == [(asked["id"], True), (asked["id"], False)]
    assert all(each["text"].split("\n\n")[0] in ("ack", "retire") for each in answers)
    assert len(office.mailbox.after(0, limit=10)) == 2


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        ({"mail": 1, "text": "ack", "from": "x@example.com"}, "not_sent"),
        ({"mail": 2, "text": "ack", "from": NORA}, "not_sent"),
        ({"mail": 1, "text": "ack"}, "invalid_arguments"),
        ({"mail": "1", "text": "ack", "from": NORA}, "invalid_arguments"),
        ({"mail": 1, "text": "ack", "from": NORA, "forged": "yes"}, "invalid_arguments"),
        ({"mail": 1, "text": "ack", "from": NORA, "subject": "x"}, "invalid_arguments"),
    ],
)
def test_an_answer_that_cannot_be_sent_says_why(
    office: PostOffice, page: httpx.Client, wish: dict[str, Any], error: str
) -> None:
    office.mail.send(ask(1, NORA))
    answer = page.post("/control/mail/reply", json=wish)

    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert answer.json()["response_metadata"]["messages"]
    assert office.mailbox.after(0, limit=10) == ()


def test_a_page_of_another_site_cannot_send_mail(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    headers = {"content-type": "text/plain"}
    forged = page.post("/control/mail/reply", content=b'{"mail":1,"text":"ack","from":"x"}', headers=headers)

    assert forged.status_code == 415


def test_the_html_of_a_mail_may_run_nothing_and_fetch_nothing(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    shown = page.get("/control/mail/1/html")
    policy = shown.headers["content-security-policy"]

    assert "sandbox" in policy
    assert "allow-scripts" not in policy
    assert "default-src 'none'" in policy
    assert '<HEAD lang="en"><base target="_blank"><style>' in shown.text


def test_the_original_is_the_mail_as_it_lies_there(office: PostOffice, page: httpx.Client) -> None:
    office.mail.send(ask(1, NORA))
    original = page.get("/control/mail/1/original")

    assert original.content == office.boxes.letters()[0].message
    assert original.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/control/mail/7/html", "/control/mail/7/original", "/control/mail/0/html"])
def test_a_mail_that_is_not_there_is_not_found(page: httpx.Client, path: str) -> None:
    assert page.get(path).status_code == 404


def test_everybody_has_one_mailbox_and_every_list_its_readers(page: httpx.Client) -> None:
    drawn = state_of(page)["mailboxes"]
    writing = [each["address"] for each in drawn if "readers" not in each]

    assert drawn == mailboxes()
    assert sorted(writing) == sorted(writers())
    assert len(writing) == len(PEOPLE) + len(OUTSIDE)
    assert all(reader in writing for each in drawn for reader in each.get("readers", ()))


def test_who_is_not_in_slack_is_not_in_slack(page: httpx.Client) -> None:
    everybody = {each["profile"]["email"] for each in state_of(page)["users"]}

    assert not everybody & {address for address, *_ in OUTSIDE}
