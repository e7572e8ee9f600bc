"""What somebody could try over the web with a link that they hold or half of one: nothing happens, and nothing is let out."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.incidents.model import Status
from tests.handlers.doubles import Clock
from tests.pages.browser import Browser
from tests.pages.site import HEADER, Site

EVIL = "evil.example.org"


@pytest.fixture
def stranger(web: Site) -> Browser:
    """Somebody without a login, from anywhere."""
    web.fails()
    return web.browser(peer="203.0.113.9")


@pytest.mark.parametrize("path", ["/records/", "/i/1/", "/d/x/ack/", "/i//1", "/teams/finance-data/"])
def test_no_answer_leads_to_a_host_that_the_caller_names(web: Site, stranger: Browser, path: str) -> None:
    for method in ("GET", "POST"):
        answer = stranger.request(method, path, headers={"host": EVIL, "x-forwarded-host": EVIL})

        assert answer.status_code == 404
        assert "location" not in answer.headers
        assert EVIL not in answer.text


def test_pages_and_their_forms_name_no_host_at_all(web: Site, stranger: Browser) -> None:
    for path in (web.link("ack"), web.link("pause"), f"/i/1?k={web.key()}"):
        assert EVIL not in stranger.get(path, host=EVIL, x_forwarded_host=EVIL).text


@pytest.mark.parametrize(
    "changed",
    [
        lambda path: path.upper(),
        lambda path: path.replace("/d/", "/D/"),
        lambda path: path.replace("/ack", "/Ack"),
        lambda path: path + "/",
        lambda path: path.replace("/d/", "/d//"),
        lambda path: path + "%00",
        lambda path: path + "%2f",
        lambda path: path.replace("/ack", "/ack%20"),
        lambda path: path.replace("/d/", "/d/%20"),
        lambda path: path.replace("/d/", "/d/..%2fd%2f"),
        lambda path: path.replace("-", "%2D", 1).replace("/ack", "/rerun"),
    ],
)
def test_a_link_that_was_changed_on_its_way_does_nothing(
    web: Site, stranger: Browser, changed: Callable[[str], str]
) -> None:
    path = changed(web.link("ack"))
    before = web.state()

    for method in ("GET", "POST"):
        assert stranger.request(method, path, data={} if method == "POST" else None).status_code == 404

    assert web.state() == before


def test_a_link_whose_name_is_percent_encoded_is_the_same_link(web: Site, stranger: Browser) -> None:
    """Mail gateways rewrite links so; it still acts once."""
    path = web.link("ack")

    assert stranger.post(path.replace("-", "%2D"), {}).status_code == 200
    assert "used already" in stranger.post(path, {}).text
    assert web.newest().acknowledgement is not None


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("kind", [None, "application/json", "text/plain", "multipart/form-data; boundary=x"])
def test_a_scanner_that_sends_anything_but_the_form_does_nothing(
    web: Site, stranger: Browser, method: str, kind: str | None
) -> None:
    before = web.state()
    headers = {"content-type": kind} if kind else {}

    assert stranger.request(method, web.link("ack"), headers=headers).status_code in (200, 405, 415)
    assert web.state() == before


def test_fields_that_the_form_does_not_have_change_nothing(web: Site, stranger: Browser) -> None:
    """Nobody becomes another person, takes another word or occurrence, or says yes to a warning, by a field."""
    more = {
        "who": "ben@example.com",
        "person": "U0BEN",
        "word": "retire",
        "sure": "1",
        "occurrence": "2.1",
        "mail": "1",
    }
    stranger.post(web.link("ack"), more)

    held = web.newest().acknowledgement
    assert held is not None
    assert held.by.person.id == "U0ANA"
    assert web.newest().status is Status.OPEN


def test_a_field_or_a_part_of_the_query_that_comes_twice_is_refused(web: Site, stranger: Browser) -> None:
    path = web.link("rerun")
    form = {"content-type": "application/x-www-form-urlencoded"}

    assert stranger.request("POST", path, headers=form, content=b"argument=a&argument=b").status_code == 400
    assert stranger.get(f"{path}?sure=0&sure=1").status_code == 400
    assert stranger.get(f"/i/1?k={web.key()}&k=x").status_code == 400


@pytest.mark.parametrize("size", [5_000, 60_000])
def test_a_query_that_is_too_long_is_refused(web: Site, stranger: Browser, size: int) -> None:
    for path in (web.link("ack"), f"/i/1?k={web.key()}"):
        assert stranger.get(f"{path}{'&' if '?' in path else '?'}x={'a' * size}").status_code == 400


def test_a_link_of_one_word_is_no_key_to_pages(web: Site, stranger: Browser) -> None:
    name = web.link("ack").split("/")[2]

    for path in (
        f"/i/1?k={name}",
        f"/records?k={web.key()}",
        f"/teams/finance-data?k={web.key()}",
        f"/records?k={name}",
    ):
        assert stranger.get(path).status_code in (401, 403)


def test_a_login_that_a_stranger_writes_themselves_is_none_also_beside_a_good_link(
    web: Site, stranger: Browser
) -> None:
    page = stranger.get(f"/i/1?k={web.key()}", **{HEADER: "ana@example.com"})

    assert page.status_code == 200
    assert "Signed in" not in page.text
    assert "<form" not in page.text


@pytest.mark.parametrize("days", [-1, -400, 4000])
def test_a_server_whose_clock_was_set_wrong_breaks_over_no_link(
    web: Site, stranger: Browser, clock: Clock, days: int
) -> None:
    path, key = web.link("ack"), web.key()
    clock.move(timedelta(days=days))

    assert stranger.get(path).status_code in (200, 410)
    assert stranger.get(f"/i/1?k={key}").status_code in (200, 403)


@pytest.mark.parametrize("wild", ["%25", "_", "%25finance%25", "' OR 1=1 --", "airflow-prod/finance.dail_"])
def test_no_filter_is_read_by_the_database_as_a_pattern(web: Site, stranger: Browser, wild: str) -> None:
    ana = web.browser(login="ana@example.com")
    assert "finance.daily_revenue" in ana.get("/records").text

    assert "/i/1.1" not in ana.get(f"/records?job={wild}").text
    assert "/i/1.1" not in ana.get(f"/records?cause={wild}").text
