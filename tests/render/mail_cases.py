"""Mails as people meet them, values only; nothing here checks anything."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.incidents.effects import ReplyKind
from bot.mail.commands import CommandWord
from bot.render.digest import NoticeKind
from bot.render.digest import content_of as notice_of
from bot.render.mail import Answer, Confirm, Fault, MailLinks, RenderedMail, content_of, incident_mail
from bot.render.snapshot import Snapshot
from tests.render import cases, team_cases
from tests.render.cases import NOW
from tests.render.replies import REPLIES, TOLD, Case

DECISIONS = tuple((word, f"https://ontrack.example.com/d/41-abcdefghijklmnopqrst/{word}") for word in CommandWord)
PAGE = "https://ontrack.example.com/i/12.1?k=740000-abcdefghijklmnopqrst"
THREAD = "https://shop.slack.com/archives/C0FINANCE/p1796004750000100"
TO_ONE = MailLinks(page=PAGE, thread=THREAD, decisions=DECISIONS)
TO_A_LIST = MailLinks(page=PAGE, thread=THREAD)

FIRST_OF_KIND: dict[ReplyKind, str] = {case.kind: name for name, case in reversed(REPLIES.items())}
LATE = {"since": NOW, "code": "invalid_auth"}
APPROVAL = REPLIES["approval"]
MORE: dict[str, Case] = {
    "ask late in slack": replace(REPLIES["ask opening"], facts={**REPLIES["ask opening"].facts, "slack_late": LATE}),
    "ask without slack": replace(
        REPLIES["ask opening"],
        facts={**REPLIES["ask opening"].facts, "slack_late": {"since": NOW, "code": "slack_is_off"}},
    ),
    "ask acknowledged meanwhile": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open acknowledged"]),
    "ask resolved meanwhile": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["resolved by hand"]),
    "ask late not started": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["late not started"]),
    "ask two rules": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open two rules"]),
    "ask void mark": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open void mark"]),
    "ask came back": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open came back"]),
    "ask backfill": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open backfill"]),
    "ask long name": replace(REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open long name"]),
    "ask rich": replace(REPLIES["ask opening"], snapshot=REPLIES["evidence rich"].snapshot),
    "ask scheduler only reports": replace(
        REPLIES["ask opening"], snapshot=cases.SNAPSHOTS["open scheduler only reports"]
    ),
}
INCIDENTS = {**REPLIES, **MORE}

OPEN = cases.snapshot()
ANSWERS: dict[str, tuple[Mapping[str, Any], Snapshot | None]] = {
    **{
        f"told {name}": (content_of(Answer(said="rerun", told=told)), snapshot)
        for name, (told, snapshot) in TOLD.items()
    },
    "explanation": (content_of(Answer(said="go ahead", reason="the first line is no command")), OPEN),
    "explanation about a proposal": (
        content_of(Answer(reason="it holds two commands", number=2)),
        cases.SNAPSHOTS["awaiting over budget"],
    ),
    "explanation of nothing": (content_of(Answer(said="ack", reason="that notification was never sent")), None),
    "explanation to an outsider": (
        content_of(Answer(said="ack", reason="eve@example.com is no owner who may decide", outsider=True)),
        OPEN,
    ),
    "confirm": (content_of(Confirm(said="pause until 2026-12-05 the feed is down")), OPEN),
    "confirm unknown cause": (content_of(Confirm(said="rerun", sure=True)), cases.snapshot(cases.unknown())),
}
NOTICES: dict[str, Mapping[str, Any]] = {
    **{f"digest {name}": notice_of(NoticeKind.DIGEST, found) for name, found in team_cases.DIGESTS.items()},
    "owners": notice_of(NoticeKind.OWNERS, team_cases.FAULTS),
    "fault owners": content_of(Fault(owners=team_cases.FAULTS)),
    "fault slack": content_of(Fault(code="invalid_auth", since=NOW)),
    "fault in words": content_of(
        Fault(
            title="The mailbox cannot be read",
            lines=("It refuses our password: `python -m bot doctor` says more.",),
            since=NOW,
        )
    ),
}


def mail_of(case: Case, *, shared: bool = False, replies: bool = True, links: MailLinks = TO_ONE) -> RenderedMail:
    return incident_mail(case.kind, case.builtins(), case.snapshot, shared=shared, replies=replies, links=links)
