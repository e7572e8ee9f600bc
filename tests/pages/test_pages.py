"""What each page says, word by word, and that it is well made: headings in order, labels, names that are there once."""

import re
from itertools import pairwise

import pytest

from bot.mail import CommandWord
from bot.render.pages import (
    STYLE,
    confirm_html,
    job_html,
    notice_html,
    record_html,
    records_html,
    team_html,
)
from bot.render.pages.wording import HAPPENED, reason
from tests.house.tree import ROOT
from tests.pages import cases
from tests.pages.golden import check
from tests.pages.markup import Page, page_of, words_of
from tests.render.cases import SNAPSHOTS, unknown
from tests.render.cases import snapshot as snapshot_of

PAGES = {
    "record": record_html(cases.record_page(), cases.FRAME, deciding=cases.DECIDING, said=cases.SAID),
    "record_by_link": record_html(cases.record_page(), cases.LINK),
    "record_unknown_cause": record_html(
        cases.record_page(snapshot=snapshot_of(unknown())), cases.FRAME, deciding=cases.DECIDING
    ),
    "record_awaiting": record_html(
        cases.record_page(snapshot=SNAPSHOTS["awaiting over budget"]), cases.FRAME, deciding=cases.APPROVING
    ),
    "record_resolved": record_html(cases.record_page(snapshot=SNAPSHOTS["resolved fixed"]), cases.FRAME),
    "record_paused": record_html(cases.record_page(snapshot=SNAPSHOTS["paused"]), cases.FRAME),
    "record_late": record_html(cases.record_page(snapshot=SNAPSHOTS["late not started"]), cases.FRAME),
    "records": records_html(cases.records_page(), cases.FRAME),
    "records_none": records_html(cases.records_page(rows=(), older=""), cases.FRAME),
    "records_look_further": records_html(cases.records_page(rows=()), cases.FRAME),
    "job": job_html(cases.job_page(), cases.FRAME),
    "job_never_run": job_html(cases.job_page(runs=(), rows=(), schedule=None, last_good=None), cases.FRAME),
    "team": team_html(cases.team_page(), cases.FRAME),
    "team_quiet": team_html(
        cases.team_page(rows=(), more=False, marks=(), on_call=(), jobs=(), jobs_count=0), cases.FRAME
    ),
    "confirm": confirm_html(cases.confirm_page(), cases.LINK),
    "confirm_sure": confirm_html(
        cases.confirm_page(word=CommandWord.RERUN, sure=True, wants_words=False, wants_day=False, works=False),
        cases.LINK,
    ),
    "confirm_wrong": confirm_html(
        cases.confirm_page(argument="migration", until="2026-01-01", wrong="Choose a later day."), cases.LINK
    ),
    "notice": notice_html(cases.NOTICE, cases.LINK),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_it_said_when_it_was_read(name: str) -> None:
    check(name, PAGES[name])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_without_eyes(name: str) -> None:
    page = page_of(PAGES[name])
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    headings = [int(one.tag[1]) for one in page.elements if one.tag in ("h1", "h2", "h3")]

    assert page.only("html").attributes["lang"] == "en"
    assert page.only("title").text.strip() if not page.all("svg") else page.all("title")[0].text.strip()
    assert [len(page.all(tag)) for tag in ("main", "header", "footer", "nav", "h1")] == [1] * 5
    assert len(ids) == len(set(ids))
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert set(named_by(page)) <= set(ids)
    for one in page.elements:
        if one.tag in ("input", "select") and one.attributes.get("type") != "hidden":
            assert one.attributes["id"] in [label.attributes["for"] for label in page.all("label")]
        if one.tag == "th":
            assert one.attributes["scope"] in ("row", "col")
        if one.tag == "table":
            assert one.text.strip()
        if one.tag in ("a", "button", "summary"):
            assert one.text.strip()


def named_by(page: Page) -> list[str]:
    return [
        one.attributes[name] for one in page.elements for name in ("aria-labelledby", "for") if name in one.attributes
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_no_script_no_inline_style_and_no_other_site(name: str) -> None:
    page = page_of(PAGES[name])

    for one in page.elements:
        assert not {"style", "src", "srcset"} & one.attributes.keys()
        if one.tag == "link":
            assert re.match(r"(/ontrack)?/assets/", one.attributes["href"])
        if one.tag == "form":
            assert re.match(r"(/ontrack)?/[^/]", one.attributes["action"])


@pytest.mark.parametrize("name", [name for name in PAGES if "link" in name or name.startswith(("confirm", "notice"))])
def test_whoever_has_only_a_link_is_led_nowhere_else(name: str) -> None:
    inside = [one.attributes["href"] for one in page_of(PAGES[name]).all("a")]

    assert [href for href in inside if re.match(r"(/ontrack)?/(records|jobs|teams)", href)] == []
    assert [href for href in inside if "/i/" in href and "?k=" not in href] == []


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_every_state_has_its_page(name: str) -> None:
    html = record_html(cases.record_page(snapshot=SNAPSHOTS[name]), cases.FRAME, deciding=cases.DECIDING)
    said = words_of(html)

    for part in ("What is wrong", "Who is on it", "What next", "Failure", "Action taken", "Owner decision", "Outcome"):
        assert part in said


def test_what_waits_for_a_yes_or_no_offers_that_first() -> None:
    forms = [one.attributes["action"] for one in page_of(PAGES["record_awaiting"]).all("form")]

    assert forms == ["/i/12.1/approve", "/i/12.1/decline", "/i/12.1/ack"]


def test_a_rerun_of_an_unknown_cause_asks_twice() -> None:
    boxes = [one for one in page_of(PAGES["record_unknown_cause"]).all("input") if one.attributes["type"] == "checkbox"]

    assert [box.attributes["name"] for box in boxes] == ["sure"]
    assert "checked" not in boxes[0].attributes
    assert [one for one in page_of(PAGES["record"]).all("input") if one.attributes["type"] == "checkbox"] == []


def test_instants_are_in_the_zone_of_the_job_and_bear_their_year_where_it_is_another() -> None:
    times = {one.attributes["datetime"]: one.text for one in page_of(PAGES["record"]).all("time")}

    assert times["2026-11-30T02:00:00+00:00"] == "Mon 30 Nov 03:00 CET"
    assert times["2025-10-26T02:12:30+00:00"] == "Sun 26 Oct 03:12 CET 2025"


def test_the_drawing_tells_each_run_without_a_colour() -> None:
    page = page_of(PAGES["job"])
    titles = [one.text for one in page.all("title")[2:]]

    assert len(page.all("rect")) == len(titles) == 7
    assert titles[-1] == "2026-11-30 02:00 UTC: running"
    assert "failed, took 21 min" in titles[-2]
    assert [one.text for one in page.all("text") if one.attributes["class"] != "again"] == ["×", "–", "–", "×", "…"]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)

    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "back"),
    [
        *((name, back) for name in ("text", "quiet", "link", "bad", "good") for back in ("back", "raised")),
        *(("bad", "bad-back"), ("good", "good-back"), ("wait", "wait-back"), ("calm", "calm-back")),
        *(("on-main", "main"), ("on-mark", "mark")),
    ],
)
def test_the_contrast_is_enough_for_tired_eyes(scheme: int, text: str, back: str) -> None:
    block = STYLE.decode().split("prefers-color-scheme: dark")[scheme].partition("* {")[0]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
    lighter, darker = sorted((luminance(colours[text]), luminance(colours[back])), reverse=True)

    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_settled_records_offer_no_form_without_a_word() -> None:
    html = record_html(cases.record_page(snapshot=SNAPSHOTS["left"]), cases.FRAME)

    assert "<form" not in html


def test_a_proposal_is_told_with_its_end() -> None:
    html = record_html(cases.record_page(snapshot=SNAPSHOTS["awaiting outsider"]), cases.FRAME)

    assert "A rerun waits for approval until Tue 1 Dec 03:00 CET" in words_of(html)


def test_everything_that_the_core_notes_has_its_words() -> None:
    core = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "bot/incidents").glob("*.py"))
    kinds = {*re.findall(r"\.note\(\s*\"([a-z_]+)\"", core), "mark_revoked"}

    assert len(kinds) > 60
    assert kinds - set(HAPPENED) == set()


def test_the_name_of_an_event_is_parted_into_words() -> None:
    assert reason("RunSucceeded changes nothing: it is resolved") == "Run succeeded changes nothing: it is resolved"
    assert reason("UndefinedColumn: column is gone") == "UndefinedColumn: column is gone"
