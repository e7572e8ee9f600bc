"""Links of mails: looking changes nothing, however often and by whomever; the button acts once, as whom the mail was sent to."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from bot.incidents.events import NotNeeded
from bot.incidents.model import Status
from bot.mail import CommandWord
from tests.handlers.doubles import Clock
from tests.pages.browser import Browser
from tests.pages.markup import form_of, page_of, words_of
from tests.pages.site import Site

DATED = {"argument": "the vendor migrates", "until": "2026-12-05"}


@pytest.fixture
def reader(web: Site) -> Browser:
    """Somebody with a mail, and no login."""
    web.fails()
    return web.browser(peer="203.0.113.9")


@pytest.mark.parametrize("word", list(CommandWord))
def test_looking_shows_what_the_link_would_do_and_for_whom(web: Site, reader: Browser, word: CommandWord) -> None:
    path = web.link(word)
    page = reader.get(path)

    assert page.status_code == 200
    assert "Nothing has happened yet" in words_of(page.text)
    assert "as Ana" in words_of(page.text)
    assert "finance.daily_revenue failed" in words_of(page.text)
    assert page_of(page.text).only("form").attributes == {"method": "post", "action": path, "class": "confirm"}


@pytest.mark.scenario(38)
def test_a_scanner_that_opens_every_link_changes_nothing(web: Site, reader: Browser) -> None:
    paths = [web.link(word) for word in CommandWord]
    paths += [f"{path}?sure=1" for path in paths] + [f"/i/1?k={web.key()}", "/i/1.1/ack"]
    before = web.state()

    for path in paths:
        for method in ("GET", "HEAD", "OPTIONS"):
            assert reader.request(method, path).status_code < 500

    assert web.state() == before
    assert web.newest().status is Status.OPEN


def test_the_button_acts_as_whom_the_mail_was_sent_to(web: Site, reader: Browser) -> None:
    path = web.link("ack")
    done = reader.post(path, form_of(reader.get(path).text, path))

    assert done.status_code == 200
    assert words_of(done.text).startswith("Done: finance.daily_revenue It is yours (until Tue 1 Dec 12:00 UTC).")
    held = web.newest().acknowledgement

    assert held is not None
    assert (held.by.person.id, held.by.door) == ("U0ANA", "web")


def test_the_page_after_it_leads_to_the_record(web: Site, reader: Browser) -> None:
    path = web.link("ack")
    done = reader.post(path, {})
    (there,) = [one.attributes["href"] for one in page_of(done.text).all("a") if one.text == "Open the record"]

    assert reader.get(there).status_code == 200


@pytest.mark.parametrize("word", ["pause", "leave", "retire", "fixed"])
def test_what_the_word_needs_is_asked_for(web: Site, reader: Browser, word: str) -> None:
    path = web.link(word)
    form = form_of(reader.get(path).text, path)

    assert set(form) == ({"argument", "until"} if word in ("pause", "leave") else {"argument"})
    assert reader.post(path, DATED).status_code == 200
    assert web.newest().status is not Status.OPEN


@pytest.mark.parametrize("fields", [{}, {"argument": "why"}, {"until": "2026-12-05"}, DATED | {"until": "2026-11-01"}])
def test_what_is_missing_is_told_and_the_link_still_works(web: Site, reader: Browser, fields: dict[str, str]) -> None:
    path = web.link("pause")
    wrong = reader.post(path, fields)

    assert wrong.status_code == 422
    assert "Not done" in words_of(wrong.text)
    assert form_of(wrong.text, path).items() >= fields.items()
    assert web.newest().status is Status.OPEN
    assert words_of(reader.post(path, DATED).text).startswith("Done")
    assert web.newest().status is Status.PAUSED


def test_a_link_acts_once(web: Site, reader: Browser) -> None:
    path = web.link("ack")
    reader.post(path, {})
    after = web.state()
    again, looked = reader.post(path, {}), reader.get(path)

    assert "This link was used already" in words_of(again.text)
    assert "It is yours" in words_of(again.text)
    assert "This link was used already" in words_of(looked.text)
    assert "<form" not in looked.text
    assert web.state() == after


def test_a_button_pressed_twice_at_once_acts_once(web: Site, reader: Browser) -> None:
    path = web.link("retire")
    with ThreadPoolExecutor(max_workers=4) as fingers:
        answers = list(fingers.map(lambda _: reader.post(path, {"argument": "gone"}), range(4)))

    assert [answer.status_code for answer in answers] == [200] * 4
    assert [row.kind for row in web.storage.reads.timeline(record=1, number=1)].count("decided") == 1


@pytest.mark.parametrize("name", ["1-aaaaaaaaaaaaaaaaaaaa", "x", "1", "%00", "9" * 200, "1-AAAAAAAAAAAAAAAAAAAA"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_link_that_is_none_of_ours_is_told_so(web: Site, reader: Browser, name: str, method: str) -> None:
    before = web.state()
    answer = reader.request(method, f"/d/{name}/ack", data={} if method == "POST" else None)

    assert answer.status_code == 404
    assert "This link does not work" in words_of(answer.text)
    assert "finance" not in answer.text
    assert web.state() == before


@pytest.mark.parametrize("word", ["retire", "ACK", "nothing", "ack%2e", "%F0%9F%92%A5"])
def test_the_name_of_one_word_does_not_do_another(web: Site, reader: Browser, word: str) -> None:
    name = web.link("ack").split("/")[2]

    for method in ("GET", "POST"):
        answer = reader.request(method, f"/d/{name}/{word}", data={"argument": "x"} if method == "POST" else None)

        assert answer.status_code == 404

    assert web.newest().status is Status.OPEN


def test_the_name_without_the_warning_does_not_say_yes_to_it(web: Site, reader: Browser) -> None:
    path = web.link("rerun")

    assert reader.post(f"{path}?sure=1", {}).status_code == 404


def test_an_old_link_says_that_it_is_and_leads_to_the_record(web: Site, reader: Browser, clock: Clock) -> None:
    path = web.link("ack")
    clock.move(timedelta(days=15))

    for answer in (reader.get(path), reader.post(path, {})):
        assert answer.status_code == 410
        assert "older than 14 days" in words_of(answer.text)
        assert "Open the record" in answer.text

    assert web.newest().acknowledgement is None


@pytest.mark.parametrize("used", [False, True])
def test_a_link_is_no_key_to_the_record_for_ever(web: Site, reader: Browser, clock: Clock, used: bool) -> None:
    path = web.link("ack")
    if used:
        reader.post(path, {})
    clock.move(timedelta(days=31))

    for answer in (reader.get(path), reader.post(path, {})):
        assert answer.status_code == 410
        assert "older than 30 days" in words_of(answer.text)
        assert "/i/" not in answer.text
        assert "finance" not in answer.text


def test_a_link_of_a_mail_to_a_list_does_not_act(web: Site, reader: Browser) -> None:
    path = web.link("ack", address="finance@example.com", shared=True)

    assert [reader.get(path).status_code, reader.post(path, {}).status_code] == [404, 404]
    assert web.newest().acknowledgement is None


def test_somebody_who_may_not_decide_is_told_who_may(web: Site, reader: Browser) -> None:
    path = web.link("retire", address="sam@example.com")
    done = reader.post(path, {"argument": "gone"})

    assert words_of(done.text).startswith(
        "Not done: finance.daily_revenue Only the owning team finance-data can decide"
    )
    assert web.newest().status is Status.OPEN


def test_what_was_settled_meanwhile_is_told(web: Site, reader: Browser) -> None:
    path = web.link("retire")
    web.says(lambda by: NotNeeded(by=by), who="U0BEN")

    assert "will probably be refused" in words_of(reader.get(path).text)
    assert "this is already resolved" in words_of(reader.post(path, {"argument": "gone"}).text)


@pytest.mark.parametrize("headers", [{"sec_fetch_site": "cross-site"}, {"origin": "https://evil.example"}])
def test_a_form_that_another_page_sends_does_nothing(web: Site, reader: Browser, headers: dict[str, str]) -> None:
    assert reader.post(web.link("ack"), {}, **headers).status_code == 403
    assert web.newest().acknowledgement is None


def test_names_are_guessed_a_few_times_only(web: Site, reader: Browser) -> None:
    answers = [reader.post(f"/d/{number}-{'a' * 20}/ack", {}).status_code for number in range(1, 23)]

    assert answers == [404] * 20 + [429] * 2
    assert reader.post(web.link("ack"), {}).status_code == 200
