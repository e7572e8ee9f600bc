"""Whatever text comes from outside, it stays text: no element, attribute, address or turn of direction of its own."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.types import Change, ChangeKind, EvidenceLine, RootError
from bot.incidents.keys import JobKey
from bot.incidents.people import By, Person
from bot.render.pages import (
    Happened,
    NoticePage,
    Said,
    Wanted,
    confirm_html,
    job_html,
    notice_html,
    record_html,
    records_html,
    team_html,
)
from tests.pages import cases
from tests.pages.markup import page_of
from tests.pages.site import Site
from tests.render.cases import HOSTILE, evidence, failure, incident, snapshot

BREAKS = (
    "</pre></code></time></title><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %} <!-- --> <![CDATA[",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff \x00\x07\x1b[31m",
    "&lt;b&gt; &amp; %0d%0aSet-Cookie: x",
    "\ud800 \U000e0041",
)
TURNS = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
TEXTS = st.one_of(
    st.sampled_from([*BREAKS, HOSTILE]), st.text(alphabet=st.characters(codec=None), max_size=200), st.text(max_size=50)
)


def pages_with(text: str) -> list[str]:
    """Every page with the text in every place that somebody else can fill."""
    url = f"https://x.example/{text}"
    person = By(person=Person(id=text, name=text), at=cases.NOW, door=text)
    bad = failure(title=text, message=text, cause=text, also=(text,), ruled_out_by=(text,))
    bad = replace(bad, run=replace(bad.run, run_id=text, url=url))
    job = JobKey(scheduler=text, name=text)
    changed = Change(path=text, kind=ChangeKind.CHANGED, before=text, after=text, note=text, rank=1, says=text)
    root = RootError(type=text, message=text, lines=(EvidenceLine(number=1, text=text, decisive=True),))
    found = evidence(root=root, changes=(changed, replace(changed, diff=text)), log_tail=text)
    shown = snapshot(
        incident(job=job, failure=bad, reason=text, watchers=(person.person,)),
        evidence=found,
        team=text,
        owners=(text,),
        zone=text,
    )
    row = cases.row(job=job, team=text, zone=text, cause=text, title=text, on_it=text, why=text)
    record = cases.record_page(
        snapshot=shown,
        timeline=(Happened(at=cases.NOW, kind=text, reason=text, by=person),),
        earlier=(row,),
        similar=(row,),
        thread_url=text,
    )
    runs = tuple(replace(run, run_id=text, cause=text, url=text, state=text, trigger=text) for run in cases.runs())
    team = cases.team_page(team=text, on_call=(text,), owners=(text,), manager=text, jobs=(job,), rows=(row,))
    asked = Wanted(status=text, team=text, job=text, cause=text, since=text)
    reader = replace(cases.FRAME, reader=text)
    return [
        record_html(record, reader, deciding=cases.DECIDING, said=Said(text=text, done=False)),
        record_html(record, cases.LINK),
        records_html(cases.records_page(wanted=asked, rows=(row,), teams=(text,)), reader),
        job_html(cases.job_page(job=job, zone=text, runs=runs, rows=(row,), marks=((text, text),)), reader),
        team_html(team, reader),
        confirm_html(cases.confirm_page(snapshot=shown, who=text, argument=text, until=text, wrong=text), cases.LINK),
        notice_html(NoticePage(title=text, lines=(text,), links=(("/i/1", text),)), cases.LINK),
    ]


@settings(max_examples=60, deadline=timedelta(seconds=5))
@given(TEXTS)
def test_nothing_breaks_out_of_its_place(text: str) -> None:
    for html in pages_with(text):
        page = page_of(html)
        html.encode()

        assert TURNS.search(html) is None
        for one in page.elements:
            href = one.attributes.get("href", "/")
            assert href.startswith(("/", "#", "https://", "http://")), href
            assert not href.startswith("//")


@pytest.mark.parametrize("text", BREAKS)
def test_the_same_elements_stand_there_whatever_the_words(text: str) -> None:
    plain = [[one.tag for one in page_of(html).elements if one.tag != "a"] for html in pages_with("word")]
    found = [[one.tag for one in page_of(html).elements if one.tag != "a"] for html in pages_with(f"word {text} word")]

    assert found == plain


@pytest.mark.parametrize("text", BREAKS[:5])
def test_a_hostile_report_becomes_a_harmless_page(web: Site, text: str) -> None:
    told: dict[str, Any] = {"type": text, "message": text, "log": "\n".join(BREAKS[:6])}
    one = web.fails(job=f"finance.{text[:60]}", **told)
    ana = web.browser(login="ana@example.com")

    for path in (f"/i/{one.id}", "/records", "/teams/finance-data"):
        answer = ana.get(path)
        page = page_of(answer.text)

        assert answer.status_code == 200
        assert TURNS.search(answer.text) is None
        for href in (each.attributes["href"] for each in page.all("a") if each.attributes["href"].startswith("/")):
            assert ana.get(href).status_code == 200, href
