"""Any message of any occurrence stays within Slack's limits, and says on a phone what it is about, of which job, and who."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.types import Change, ChangeKind, EvidenceLine, RootError
from bot.incidents.effects import ReplyKind, Told, ToldKind
from bot.incidents.keys import JobKey
from bot.incidents.model import Acknowledgement
from bot.incidents.people import By, Handover, Mention, MentionKind, Person
from bot.incidents.situation import Waiting
from bot.render import holding, modals
from bot.render.bounds import KEPT, MOST_BLOCKS, MOST_CHARACTERS, characters, within
from bot.render.more import modal_more
from bot.render.plain import plain_mrkdwn
from bot.render.private import told
from bot.render.rendered import Rendered
from bot.render.replies import FACTS, reply
from bot.render.root import root
from bot.render.snapshot import Snapshot
from tests.render import cases
from tests.render.checking import refused, refused_view
from tests.render.replies import REPLIES
from tests.render.test_replies import rendered

NASTY = ("<!channel>", "&" * 3000, "x" * 20_000, "\u202e\u0000", "*_~`", "ключ" * 900, "😀" * 2000, "a\n" * 3000)
WORDS = st.one_of(st.text(max_size=60), st.sampled_from(NASTY), st.text(min_size=100, max_size=400))
NO_WORDS = frozenset({"fix", "last_fix", "last_decision", "downstream", "times", "count"})
MANY = st.sampled_from([0, 1, 3, 11, 120])


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """An occurrence as people meet it, with words of any length in every place, and as many of each thing as there may be."""
    plain = cases.SNAPSHOTS[draw(st.sampled_from(sorted(cases.SNAPSHOTS)))]
    one, other = draw(WORDS), draw(WORDS)
    many = draw(MANY)
    who = By(person=Person(id="U0EVE", name=other), at=cases.NOW)
    times = tuple(cases.owed(cases.DUE - timedelta(minutes=step)) for step in range(many))
    incident = replace(
        plain.incident,
        job=JobKey(scheduler=one, name=other or "job"),
        reason=one,
        failure=replace(plain.incident.failure, title=one, message=other, also=(one, other) * many),
        owed=times or plain.incident.owed,
        waived=times,
        acknowledgement=Acknowledgement(by=who, until=cases.NEXT) if many == 3 else plain.incident.acknowledgement,
        watchers=(who.person,) * many,
        handed=(Handover(team=one, came_from=other, by=who, note=one),) if many == 11 else (),
    )
    lines = tuple(EvidenceLine(number=number + 1, text=one, decisive=number == many // 2) for number in range(many))
    changes = tuple(
        Change(
            path=other,
            kind=kind,
            before=one,
            after=other,
            note=one,
            rank=rank,
            says=one,
            diff=other if rank == 2 else None,
        )
        for rank, kind in enumerate(list(ChangeKind) * (many // 3))
    )
    found = cases.evidence(root=RootError(type=one, message=other, lines=lines), changes=changes, log_tail=one)
    return replace(
        plain,
        incident=incident,
        evidence=found,
        team=one,
        teams=(one, other) * many,
        owners=(other,) * many,
        zone=one,
        downstream=tuple(Waiting(job=other, waits=True) for _ in range(many)),
        marks=tuple(cases.mark(by=one, void=other) for _ in range(many)),
        same_cause=(JobKey(scheduler=one, name=other),) * many,
        record_url=other,
    )


@settings(max_examples=120, deadline=None)
@given(snapshots(), st.sampled_from(sorted(FACTS)), WORDS, MANY)
def test_any_message_is_within_the_limits(snapshot: Snapshot, kind: ReplyKind, words: str, many: int) -> None:
    facts: dict[str, Any] = {name: words for name in FACTS[kind] if name not in NO_WORDS}
    facts |= {"owed": [words] * many, "nominal_times": [words] * many}
    mention = tuple(Mention(kind=MentionKind.PERSON, id=f"U{number}A", name=words) for number in range(many))
    answer = Told(kind=ToldKind.NOT_YOURS, reason=words, facts={"can": [words] * many})

    for message in (root(snapshot), reply(kind, facts, mention=mention, snapshot=snapshot), told(answer, snapshot)):
        assert refused(message) == []
        assert message.text.strip()
        for blocks in (message.blocks, message.richer):
            assert len(blocks) <= MOST_BLOCKS
            assert characters(blocks) <= MOST_CHARACTERS


@settings(max_examples=60, deadline=None)
@given(snapshots())
def test_any_modal_is_within_the_limits(snapshot: Snapshot) -> None:
    causes = tuple((f"c{number}", snapshot.team) for number in range(130))
    opened = [
        modal_more(snapshot),
        modals.modal_fixed(snapshot, causes=causes),
        modals.modal_rerun(snapshot),
        modals.modal_not_needed(snapshot),
        modals.modal_still_needed(snapshot),
        modals.modal_cause(snapshot, causes=causes),
        modals.modal_mark_safe(snapshot),
        holding.modal_pause(snapshot, now=cases.NOW),
        holding.modal_leave(snapshot, now=cases.NOW),
        holding.modal_retire(snapshot),
        holding.modal_wait(snapshot, now=cases.NOW),
    ]

    assert [refused_view(view) for view in opened] == [[]] * len(opened)


def text(words: str) -> dict[str, Any]:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": words}]}
    return {"type": "rich_text", "elements": [section]}


def small(words: str, kind: str = "section") -> dict[str, Any]:
    return {"type": kind, "text": {"type": "mrkdwn", "text": words}}


BLOCKS = st.lists(
    st.one_of(
        st.integers(1, 4000).map(lambda size: text("x" * size)),
        st.integers(1, 30).map(lambda size: small("y" * size)),
        st.integers(1, 60).map(
            lambda size: {"type": "table", "rows": [[{"type": "raw_text", "text": "z" * 100}] * 3] * size}
        ),
        st.integers(1, 5).map(
            lambda size: {
                "type": "container",
                "title": {"type": "plain_text", "text": "t"},
                "child_blocks": [text("w" * 900)] * size,
            }
        ),
    ),
    max_size=60,
)


@given(BLOCKS)
def test_blocks_are_cut_to_what_fits_and_what_people_act_on_stays(blocks: list[dict[str, Any]]) -> None:
    found = within(blocks)

    assert len(found) <= MOST_BLOCKS
    assert characters(found) <= MOST_CHARACTERS
    few = blocks if len(blocks) <= MOST_BLOCKS else [*blocks[: MOST_BLOCKS - 1], blocks[-1]]
    assert [block for block in found if block["type"] in KEPT] == [block for block in few if block["type"] in KEPT]


def test_what_fits_is_left_as_it_is() -> None:
    blocks = root(cases.snapshot()).blocks

    assert within(blocks) == blocks


def phone(message: Rendered) -> str:
    """What a phone shows of a message before it is opened."""
    shown = re.sub(r"<!subteam\^(\w+)>", r"@\1", message.text)
    return plain_mrkdwn(shown)[:100]


LONG = JobKey(scheduler="airflow-prod", name="finance." + "daily_" * 30 + "end")


@pytest.mark.parametrize("name", [name for name in cases.SNAPSHOTS if "hostile" not in name])
@pytest.mark.parametrize("job", [None, LONG], ids=["usual name", "long name"])
def test_on_a_phone_the_root_says_which_job_and_what(name: str, job: JobKey | None) -> None:
    snapshot = cases.SNAPSHOTS[name]
    snapshot = replace(snapshot, incident=replace(snapshot.incident, job=job)) if job else snapshot
    shown = phone(root(snapshot))

    assert shown.startswith(snapshot.incident.job.name[:20])
    assert re.search(r"failed|recovered|late|started|finished|fixed|fix |paused|silenced|retired|left|closed", shown)


ASKS = [name for name, case in REPLIES.items() if case.mention and case.kind in (ReplyKind.ASK, ReplyKind.UNCONFIRMED)]
SAID = [
    name
    for name, case in REPLIES.items()
    if case.kind
    in (
        ReplyKind.ACKNOWLEDGED,
        ReplyKind.RELEASED,
        ReplyKind.WATCHING,
        ReplyKind.FIXED,
        ReplyKind.NOT_NEEDED,
        ReplyKind.CAUSE,
        ReplyKind.HANDED,
    )
]


@pytest.mark.parametrize("name", [name for name in ASKS if "hostile" not in name and "observe" not in name])
def test_on_a_phone_an_ask_says_who_is_asked_and_for_which_job(name: str) -> None:
    case = REPLIES[name]
    shown = phone(rendered(replace(case, snapshot=_with_job(case.snapshot))))

    assert shown.startswith(f"@{case.mention[0].id}")
    assert LONG.name[:20] in shown


@pytest.mark.parametrize("name", SAID)
def test_on_a_phone_a_word_says_whose_it_is_and_of_which_job(name: str) -> None:
    case = REPLIES[name]
    shown = phone(rendered(replace(case, snapshot=_with_job(case.snapshot))))

    assert LONG.name[:20] in shown
    assert "Ana" in shown or "Ben" in shown


def _with_job(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, incident=replace(snapshot.incident, job=LONG))
