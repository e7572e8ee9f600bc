"""Whatever text comes from outside: it stays text in HTML, is no header line, calls nobody, and no mail grows beyond its size."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.types import Change, ChangeKind, EvidenceLine, RootError
from bot.incidents.effects import ReplyKind, Told, ToldKind
from bot.incidents.keys import RunRef
from bot.incidents.policy import JobPolicy
from bot.render.digest import NoticeKind
from bot.render.digest import content_of as notice_of
from bot.render.mail import (
    Answer,
    Confirm,
    Fault,
    MailLinks,
    RenderedMail,
    answer_mail,
    content_of,
    incident_mail,
    notice_mail,
)
from bot.render.replies import FACTS
from bot.render.snapshot import Snapshot
from tests.render import cases, team_cases
from tests.render.cases import HOSTILE, NOW
from tests.render.mail_cases import TO_ONE
from tests.render.mail_checking import seen_in
from tests.render.test_hostile import TEXTS

MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></td></table><h1>Approved</h1>",
    "<!-- ",
    "]]>",
    "&lt;b&gt; &amp;amp; &#x3c;",
    "{{ 7*7 }}{% raw %}",
    "x\r\nBcc: eve@example.com\r\n\r\nack",
    "\u202eevil\u2066\u200f\x00\x07\x1b[31m",
    "<https://evil.example/|click> <@U0ANA> <!channel>",
    "`a` *b* <!date^1^{time}|x>",
    HOSTILE,
)
ANY = TEXTS | st.sampled_from(MARKUP)
SEEN = str.maketrans("", "", "\u202e\u202c\u2066\u200f\x00\x07\x1b\r")


def judged(mail: RenderedMail) -> None:
    seen = seen_in(mail)

    assert seen.wrong == []
    assert len(mail.html.encode()) <= 100_000
    assert len(mail.subject) <= 120
    assert mail.subject == mail.subject.strip()
    for text in (mail.subject, mail.text, mail.html):
        assert text == text.translate(SEEN)
        text.encode()
    assert "\n" not in mail.subject
    assert all(url.startswith(("https://", "http://")) for url in seen.links)
    assert {"ul", "table"}.isdisjoint(seen.headings)


def badly(name: str, one: str, other: str) -> Snapshot:
    """The case with these words wherever words from outside stand."""
    snapshot = cases.SNAPSHOTS[name]
    run = RunRef(run_id=one, url=other)
    failure = replace(snapshot.incident.failure, run=run, title=one, message=other, cause=one or "x", also=(other, one))
    incident = replace(
        snapshot.incident,
        reason=one,
        job=replace(snapshot.incident.job, name=other, scheduler=one),
        failure=failure,
        corrected_cause=other or None,
    )
    line = EvidenceLine(number=1, text=one, decisive=True)
    changes = tuple(
        Change(path=other, kind=kind, before=one, after=other, note=one, rank=rank, says=says, diff=diff)
        for rank, (kind, says, diff) in enumerate(product(ChangeKind, (one, ""), (other, None)))
    )
    root = RootError(type=one, message=other, lines=(line,) * 30)
    return replace(
        snapshot,
        incident=incident,
        evidence=cases.evidence(root=root, changes=changes, log_tail=one),
        team=one,
        owners=(other,),
        zone=one,
        past=(incident,),
        past_times=2,
        same_cause=(incident.job,),
        marks=(cases.mark(by=one, void=other),),
        usual_duration=timedelta(minutes=1),
        policy=JobPolicy(runbook=other),
    )


@settings(max_examples=150, deadline=None)
@given(ANY, ANY, st.sampled_from([*product(cases.SNAPSHOTS, FACTS)]), st.booleans())
def test_no_text_from_outside_breaks_out_of_a_mail(
    one: str, other: str, which: tuple[str, ReplyKind], shared: bool
) -> None:
    name, kind = which
    late = {"since": one, "code": other}
    facts: dict[str, Any] = {"by": one, "reason": other, "message": one, "what": other, "owed": [one, other]}
    links = MailLinks(page=one, thread=other, decisions=TO_ONE.decisions)

    judged(
        incident_mail(
            kind,
            {**facts, "cause": other, "slack_late": late, "link": one},
            badly(name, one, other),
            shared=shared,
            replies=True,
            links=links,
        )
    )


@settings(max_examples=40, deadline=None)
@given(ANY, ANY)
def test_no_text_from_outside_breaks_out_of_an_answer_or_a_notice(one: str, other: str) -> None:
    snapshot = badly("open", one, other)
    told = Told(kind=ToldKind.CANNOT, reason=other)

    for answer in (Answer(said=one, told=told), Answer(said=other, reason=one), Confirm(said=one)):
        judged(answer_mail(content_of(answer), snapshot, MailLinks(page=other)))
    judged(notice_mail(content_of(Fault(title=one, lines=(other,) * 50, code=one, since=NOW))))
    judged(notice_mail(notice_of(NoticeKind.DIGEST, team_cases.hostile_digest(one))))


@pytest.mark.parametrize("text", MARKUP)
def test_words_that_look_like_markup_are_read_as_they_were_written(text: str) -> None:
    mail = answer_mail(content_of(Answer(said=text, reason="the first line is no command")), None, MailLinks())

    shown = " ".join("".join(seen_in(mail).texts).split())
    judged(mail)
    assert shown.split("You wrote: ")[1][:15] == " ".join(text.translate(SEEN).replace("[31m", "").split())[:15]


@pytest.mark.scenario(25)
def test_a_mail_about_far_too_much_is_cut_but_says_what_matters() -> None:
    wide = "\U0001f6a8" * 3000
    snapshot = badly("open", wide, wide)
    mail = incident_mail(ReplyKind.ASK, {"ask": "opening"}, snapshot, shared=False, replies=True, links=TO_ONE)

    judged(mail)
    assert "This needs someone" in mail.text
    assert "Reply with one of these lines" in mail.text
