"""Job health on the web: what the page says, who may read it, its rows, figures and picture; and that it needs no script."""

import csv
import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings

from bot.render.health import BaselineShown, HealthHelp, HealthPage, health_html
from bot.render.pages import Frame
from tests.handlers.doubles import Clock
from tests.health import answers
from tests.pages import golden
from tests.pages.markup import Page, page_of, words_of
from tests.pages.site import Site
from tests.render.test_hostile import TEXTS
from tests.storage.test_statements import counted

READER = Frame(now=answers.NOW, style="0" * 12, reader="Maria")
LINK = Frame(now=answers.NOW, style="0" * 12, key="?k=1-a")
BASELINE = BaselineShown(baseline=answers.BASELINE)
TEAMS = ("finance", "growth")


def shown(name: str, frame: Frame = READER, **more: object) -> str:
    asked = HealthPage(answer=answers.ANSWERS[name], of="team:finance", period="30d", baseline=BASELINE, teams=TEAMS)
    return health_html(replace(asked, **more), frame)  # type: ignore[arg-type]


PAGES = {
    "health": shown("usual"),
    "health_nothing": shown("nothing", of=""),
    "health_compared": shown("compared", versus="previous"),
    "health_sorted": shown("usual", sort="late", down=True),
    "health_by_link": shown("downtime", LINK),
    "health_help": health_html(
        HealthPage(help=HealthHelp(problem="I know no team “x”.", near=("finance",), examples=("7d",)), of="x"), READER
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_it_said_when_it_was_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "GOLDEN", Path(__file__).with_name("golden"))
    golden.check(name, PAGES[name])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_without_eyes_and_without_a_script(name: str) -> None:
    page = page_of(PAGES[name])
    headings = [int(one.tag[1]) for one in page.elements if one.tag in ("h1", "h2", "h3")]
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]

    assert len(ids) == len(set(ids))
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    labelled = [label.attributes["for"] for label in page.all("label")]
    for one in page.elements:
        assert not {"style", "src", "onclick"} & one.attributes.keys()
        if one.tag in ("input", "select"):
            assert one.attributes["id"] in labelled
        if one.tag == "th":
            assert one.attributes["scope"] in ("row", "col")


def test_whoever_has_only_a_link_is_led_to_the_rows_of_the_same_question_alone() -> None:
    inside = [one.attributes["href"] for one in page_of(PAGES["health_by_link"]).all("a")]

    assert [href for href in inside if not href.startswith(("#", "/job-health.csv?", "/job-health.json?"))] == []
    assert all("k=1-a" in href for href in inside if not href.startswith("#"))


@settings(max_examples=20, deadline=None)
@given(TEXTS)
def test_nothing_from_outside_breaks_out_of_its_place(text: str) -> None:
    html = health_html(
        HealthPage(answer=answers.hostile(text), of=text, period=text, versus=text, teams=(text,)), READER
    )

    for one in page_of(html).elements:
        assert one.attributes.get("href", "/").startswith(("/", "#"))
    html.encode()


def asked(site: Site, path: str, **headers: str) -> str:
    answer = site.browser(login="ana@example.com").get(path, **headers)

    assert answer.status_code == 200, answer.text

    return answer.text


@pytest.fixture
def busy(both: Site) -> Site:
    """Two failures of finance and one of growth, one of them acknowledged."""
    both.fails()
    both.fails(job="finance.balance", id="e2", message="disk full")
    both.fails(job="ads.spend", id="e3")
    both.clock.move(answers.minutes(5))
    return both


def test_the_page_answers_as_the_chat_does(busy: Site) -> None:
    said = words_of(asked(busy, "/job-health"))

    assert "All jobs: 3 failures in the last 30 days, 0 settled, 3 open now" in said
    assert "finance-data: 2 failures" in words_of(asked(busy, "/job-health?of=finance-data&period=7d"))
    assert "no team and no job “nobody”" in words_of(asked(busy, "/job-health?of=nobody"))
    assert "No baseline is set" in words_of(asked(busy, "/job-health?vs=baseline"))
    assert "in the chat" in words_of(asked(busy, "/job-health?of=baseline+set+2026-01-01..2026-01-31"))


def test_the_table_is_sorted_by_links(busy: Site) -> None:
    def first(path: str) -> str:
        page: Page = page_of(asked(busy, path))
        return [one.text for one in page.all("tbody")][-1].split("\n")[1].split("Failures")[0]

    assert first("/job-health?sort=failures&down=1") == "finance-data"
    assert first("/job-health?sort=failures") == "growth"
    assert busy.browser(login="ana@example.com").get("/job-health?sort=salary").status_code == 400


def test_the_rows_come_as_csv_without_anybodys_name(busy: Site) -> None:
    answer = busy.browser(login="ana@example.com").get("/job-health.csv?of=finance-data")
    lines = list(csv.DictReader(io.StringIO(answer.text)))

    assert answer.headers["content-type"].startswith("text/csv")
    assert re.fullmatch(
        r'attachment; filename="job-health-\d{4}-\d\d-\d\d\.csv"', answer.headers["content-disposition"]
    )
    assert {line["job"] for line in lines} == {"airflow-prod/finance.daily_revenue", "airflow-prod/finance.balance"}
    assert "Ana" not in answer.text
    assert busy.browser(login="ana@example.com").get("/job-health.csv?of=nobody").status_code == 422


def test_the_figures_come_as_json(busy: Site) -> None:
    answer = busy.browser(login="ana@example.com").get("/job-health.json?of=growth")

    assert answer.json()["health"]["occurrences"] == 1
    assert answer.json()["health"]["scope"]["team"] == "growth"


def test_the_picture_is_a_picture(busy: Site) -> None:
    answer = busy.browser(login="ana@example.com").get("/job-health.png?of=growth")

    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")


@pytest.mark.parametrize("path", ["/job-health", "/job-health.csv", "/job-health.json", "/job-health.png"])
def test_nobody_reads_it_without_a_login_or_a_link_of_that_question(busy: Site, path: str, clock: Clock) -> None:
    name = busy.signer.page("/job-health?of=growth&period=7d", now=clock.at, lasts=answers.MONTH.length)
    stranger = busy.browser()

    assert stranger.get(path).status_code == 401
    assert stranger.get(f"{path}?of=growth&period=7d&k={name}").status_code == 200
    assert stranger.get(f"{path}?of=growth&period=30d&k={name}").status_code == 403
    assert stranger.get(f"{path}?period=7d&k={name}").status_code == 403


def test_a_page_is_read_only_and_costs_few_statements(busy: Site) -> None:
    before = busy.state()
    with counted() as few:
        asked(busy, "/job-health?vs=previous")
    for number in range(12):
        busy.fails(job=f"finance.job_{number}", id=f"m{number}", message=f"broken {number}")
    after = busy.state()
    with counted() as many:
        asked(busy, "/job-health?vs=previous")

    assert before != after
    assert busy.state() == after
    assert len(many) <= len(few) + 6
    assert len(many) <= 40


def test_a_link_of_an_answer_leads_to_the_same_answer(busy: Site) -> None:
    told = busy.browser(login="ana@example.com").get("/job-health?of=finance-data&period=7d&vs=previous")
    name = busy.signer.page(
        "/job-health?of=team%3Afinance-data&period=7d&vs=previous", now=busy.clock(), lasts=answers.MONTH.length
    )
    linked = busy.browser().get(f"/job-health?of=team%3Afinance-data&period=7d&vs=previous&k={name}")

    assert (
        words_of(linked.text).split("Figures")[0].split("finance-data: ")[1]
        == (words_of(told.text).split("Figures")[0].split("finance-data: ")[1])
    )
