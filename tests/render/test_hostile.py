"""Whatever text comes from outside, Slack takes the message and nobody is called by it."""

from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.types import Change, ChangeKind, EvidenceLine, RootError
from bot.incidents.effects import ReplyKind
from bot.render.more import modal_more
from bot.render.replies import FACTS, reply
from bot.render.root import root
from tests.render import cases
from tests.render.checking import refused, refused_view

TEXTS = st.text(alphabet=st.characters(codec=None), max_size=400).flatmap(
    lambda text: st.sampled_from([text, text * 40, f"<!channel>{text}", "&" * 4000])
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([*product(cases.SNAPSHOTS, (*FACTS, None))]))
def test_no_text_from_outside_makes_slack_refuse_or_call(
    one: str, other: str, which: tuple[str, ReplyKind | None]
) -> None:
    name, kind = which
    snapshot = replace(cases.SNAPSHOTS[name], team=one, owners=(other,), zone=one, record_url=other)
    incident = replace(
        snapshot.incident,
        reason=one,
        job=replace(snapshot.incident.job, name=other, scheduler=one),
        failure=replace(snapshot.incident.failure, title=one, message=other, cause=one or "x", also=(other, one)),
    )
    line = EvidenceLine(number=1, text=one, decisive=True)
    change = Change(path=other, kind=ChangeKind.CHANGED, before=one, after=other, note=one, rank=1)
    evidence = cases.evidence(
        root=RootError(type=one, message=other, lines=(line,) * 30), changes=(change,) * 30, log_tail=one
    )
    snapshot = replace(snapshot, incident=incident, evidence=evidence)
    facts = {"by": one, "reason": other, "message": one, "what": other, "owed": [one, other], "cause": other}

    found = root(snapshot) if kind is None else reply(kind, facts, snapshot=snapshot)

    assert found.text.strip()
    assert refused(found) == []
    assert "<!" not in found.text.replace("<!date^", "")
    assert "<@" not in found.text
    assert refused_view(modal_more(snapshot)) == []
