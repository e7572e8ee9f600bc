"""Decisions from the record page: the same event as the button's, by whoever is logged in, once, and from our own form only."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.incidents.events import Acknowledged, NotNeeded
from bot.incidents.model import Incident, Status
from bot.mail import CommandWord
from tests.handlers.doubles import NOON, Clock
from tests.pages.browser import Browser
from tests.pages.markup import form_of, page_of, words_of
from tests.pages.site import Site

WORDS = {"argument": "the vendor migrates", "until": "2026-12-05"}


@pytest.fixture
def ana(web: Site) -> Browser:
    web.fails()
    return web.browser(login="ana@example.com", sec_fetch_site="same-origin")


def decide(browser: Browser, word: str, *, page: str | None = None, **fields: str) -> httpx.Response:
    """Fill in the form of the record page and send it."""
    action = f"/i/1.1/{word}"
    form = form_of(page or browser.get("/i/1").text, action)
    return browser.post(action, form | {name: value for name, value in WORDS.items() if name in form} | fields)


def told(browser: Browser, answer: httpx.Response) -> str:
    """What the page says after the decision."""
    assert answer.status_code == 303, answer.text

    shown = browser.get(answer.headers["location"])

    assert shown.status_code == 200

    return " ".join(
        next(one for one in page_of(shown.text).all("p") if one.attributes.get("role") == "status").text.split()
    )


def test_an_acknowledgement_counts_and_is_told(web: Site, ana: Browser) -> None:
    assert told(ana, decide(ana, "ack")) == "Done: It is yours (until Tue 1 Dec 12:00 UTC)."

    held = web.newest().acknowledgement

    assert held is not None
    assert (held.by.person.id, held.by.person.name, held.by.door, held.by.at) == ("U0ANA", "Ana", "web", NOON)
    assert "Ana since" in words_of(ana.get("/i/1").text)


@pytest.mark.parametrize(
    ("word", "status"),
    [("pause", Status.PAUSED), ("retire", Status.RETIRED), ("leave", Status.LEFT), ("fixed", Status.VERIFYING)],
)
def test_each_decision_moves_the_record(web: Site, ana: Browser, word: str, status: Status) -> None:
    assert told(ana, decide(ana, word)).startswith("Done:")

    after = web.newest()

    assert after.status is status
    if after.decision is not None:
        assert (after.decision.reason, after.decision.by.door) == ("the vendor migrates", "web")
        if after.decision.until is not None:
            assert after.decision.until.isoformat() == "2026-12-05T08:00:00+00:00"
    else:
        assert after.fix is not None
        assert after.fix.what == "the vendor migrates"


def test_a_link_to_the_change_is_kept_as_one(web: Site, ana: Browser) -> None:
    decide(ana, "fixed", argument="https://git.example.com/c/1 raised the pool")
    fix = web.newest().fix

    assert fix is not None
    assert (fix.link, fix.what) == ("https://git.example.com/c/1", "raised the pool")


def test_a_secret_in_a_reason_is_masked(web: Site, ana: Browser) -> None:
    decide(ana, "retire", argument="it used password=hunter2horse9 in its DSN")
    decision = web.newest().decision

    assert decision is not None
    assert "hunter2horse9" not in decision.reason


@pytest.mark.parametrize(
    ("word", "fields", "why"),
    [
        ("pause", {"until": ""}, "choose a day"),
        ("pause", {"until": "2026-11-30"}, "not after today"),
        ("pause", {"until": "2026-13-45"}, "no day"),
        ("pause", {"until": "soon"}, "YYYY-MM-DD"),
        ("leave", {"until": "2030-01-01"}, ""),
        ("retire", {"argument": ""}, "words"),
        ("retire", {"argument": " - "}, "words"),
        ("fixed", {"argument": "is it?"}, "question"),
    ],
)
def test_what_is_wrong_with_a_field_is_told_and_nothing_is_done(
    web: Site, ana: Browser, word: str, fields: dict[str, str], why: str
) -> None:
    before = web.newest()
    said = told(ana, decide(ana, word, **fields))

    assert said.startswith("Not done:")
    assert why in said
    assert web.newest().status is before.status


def test_a_double_submit_is_one_act(web: Site, ana: Browser) -> None:
    page = ana.get("/i/1").text
    first, second = (decide(ana, "retire", page=page, argument="gone for good") for _ in range(2))

    assert told(ana, first).startswith("Done:")
    assert told(ana, second) == told(ana, first)
    assert [row.kind for row in web.storage.reads.timeline(record=1, number=1)].count("decided") == 1


def test_somebody_who_may_not_decide_is_told_who_may(web: Site, ana: Browser) -> None:
    sam = web.browser(login="sam@example.com", sec_fetch_site="same-origin")
    before = web.newest()

    assert told(sam, decide(sam, "retire")) == (
        "Not done: Only the owning team finance-data can decide this: Ana, Ben and zoe@example.com."
    )
    assert web.newest().status is before.status


def test_who_comes_second_is_told_who_was_first(web: Site, ana: Browser) -> None:
    page = ana.get("/i/1").text
    web.says(lambda by: Acknowledged(by=by, lasts=timedelta(hours=4)), who="U0BEN")

    assert told(ana, decide(ana, "ack", page=page)) == "Not done: On it: Ben until Mon 30 Nov 16:00 UTC."


def test_a_decision_on_what_is_settled_meanwhile_is_refused_in_words(web: Site, ana: Browser) -> None:
    page = ana.get("/i/1").text
    web.says(lambda by: NotNeeded(by=by), who="U0BEN")

    assert told(ana, decide(ana, "retire", page=page)).startswith(
        "Not done: Nothing was done: this is already resolved"
    )
    assert web.newest().status is Status.RESOLVED


def test_a_member_known_by_address_only_decides(web: Site, ana: Browser) -> None:
    zoe = web.browser(login="zoe@example.com")

    assert told(zoe, decide(zoe, "ack")).startswith("Done:")


def unchanged(web: Site, before: Incident, answer: httpx.Response, status: int) -> None:
    assert answer.status_code == status
    assert web.newest() == before


@pytest.mark.parametrize("name", ["seal", "nonce", "version"])
@pytest.mark.parametrize("value", ["", "x", "aaaaaaaaaaaaaaaaaaaa", "12345678"])
def test_a_form_that_we_did_not_make_does_nothing(web: Site, ana: Browser, name: str, value: str) -> None:
    before = web.newest()
    answer = decide(ana, "ack", **{name: value})

    assert answer.status_code in (400, 403)
    assert web.newest() == before


def test_a_form_without_its_seal_does_nothing(web: Site, ana: Browser) -> None:
    unchanged(web, web.newest(), ana.post("/i/1.1/ack", {}), 403)


def test_the_form_of_somebody_else_does_nothing(web: Site, ana: Browser) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")
    ben = web.browser(login="ben@example.com")

    unchanged(web, web.newest(), ben.post("/i/1.1/ack", form), 403)


def test_the_form_of_another_occurrence_does_nothing(web: Site, ana: Browser) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")
    other = web.fails(job="finance.other", id="e2")

    assert ana.post(f"/i/{other.id}/ack", form).status_code == 403
    assert web.occurrence(other.record).acknowledgement is None


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "https://ontrack.example.com.evil.example"},
        {"origin": "http://[broken"},
        {"origin": "data:text/html,x"},
    ],
)
def test_a_form_that_another_page_sends_does_nothing(web: Site, ana: Browser, headers: dict[str, str]) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")

    unchanged(web, web.newest(), ana.post("/i/1.1/ack", form, **headers), 403)


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "null"}, {"origin": "https://ontrack.example.com"}, {"sec_fetch_site": "same-origin"}]
)
def test_a_form_of_our_own_page_counts_in_every_browser(web: Site, headers: dict[str, str]) -> None:
    web.fails()
    ana = web.browser(login="ana@example.com")
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")

    assert ana.post("/i/1.1/ack", form, **headers).status_code == 303
    assert web.newest().acknowledgement is not None


def test_who_reads_by_a_link_is_offered_nothing_and_can_do_nothing(web: Site, ana: Browser) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")
    stranger = web.browser(peer="203.0.113.9")
    before = web.newest()

    assert "<form" not in stranger.get(f"/i/1?k={web.key()}").text
    unchanged(web, before, stranger.post(f"/i/1.1/ack?k={web.key()}", form), 401)


def test_only_words_of_the_command_language_are_taken(web: Site, ana: Browser) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")

    for path in ("/i/1.1/mark_safe", "/i/1.1/ACK", "/i/1/ack", "/i/1.1/%00", "/i/x/ack"):
        assert ana.post(path, form).status_code == 404


def test_a_yes_to_no_proposal_is_told(web: Site, ana: Browser) -> None:
    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")

    assert told(ana, ana.post("/i/1.1/approve", form)).startswith("Not done:")


def test_a_rerun_that_no_scheduler_takes_is_refused_in_words(web: Site, ana: Browser) -> None:
    assert "/i/1.1/rerun" not in ana.get("/i/1").text

    form = form_of(ana.get("/i/1").text, "/i/1.1/ack")

    assert told(ana, ana.post("/i/1.1/rerun", form)).startswith("Not done: This cannot be done")


def test_what_the_page_says_after_a_decision_cannot_be_made_up(web: Site, ana: Browser) -> None:
    location = decide(ana, "ack").headers["location"]
    query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}

    for changed in ({"said": "All is well."}, {"done": "0"}, {"seal": ""}):
        forged = httpx.QueryParams(query | changed)

        assert 'role="status"' not in ana.get(f"/i/1.1?{forged}").text

    ben = web.browser(login="ben@example.com")

    assert 'role="status"' not in ben.get(location).text


def test_the_way_back_stays_on_our_site(web: Site, ana: Browser) -> None:
    location = decide(ana, "ack").headers["location"]

    assert location.startswith("/i/1.1?")


def test_one_person_decides_only_so_often_and_others_are_not_kept_from_it(
    web: Site, ana: Browser, clock: Clock
) -> None:
    page = ana.get("/i/1").text
    answers = [decide(ana, "ack", page=page).status_code for _ in range(31)]
    last = decide(ana, "ack", page=page)

    assert answers == [303] * 30 + [429]
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) >= 1

    ben = web.browser(login="ben@example.com")

    assert decide(ben, "retire").status_code == 303

    clock.move(timedelta(seconds=2))

    assert decide(ana, "ack", page=page).status_code == 303


@pytest.mark.parametrize("word", sorted(CommandWord))
def test_looking_at_where_a_decision_goes_changes_nothing(web: Site, ana: Browser, word: str) -> None:
    before = web.state()

    for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
        assert ana.request(method, f"/i/1.1/{word}").status_code == 405

    assert web.state() == before
