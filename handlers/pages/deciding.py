"""A decision that somebody who is logged in sends from a record page: one person's word on the one road, taken once.

It must not judge who may do what: the core does, as for a click in Slack.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from bot.evidence import mask
from bot.incidents.effects import Told, ToldKind
from bot.incidents.people import By, Person
from bot.intake import Inbound
from bot.mail import Command, CommandWord, NoCommand, command_of
from bot.render.pages import Said
from bot.render.private import told_line
from bot.render.segments import literal
from bot.render.snapshot import Snapshot
from bot.render.text import one_line
from bot.replies.links import told_of
from bot.replies.saying import SaysNothing, said
from handlers.pages.answers import see_other
from handlers.pages.desk import PagesDesk
from handlers.pages.guard import check_origin, count_guess, count_post, person_of
from handlers.pages.requests import bad, form_of, nothing_here, occurrence_of
from handlers.pages.seals import is_sealed, said_query
from handlers.wire import Answer, Call, Refused

DOOR = "web"
MOST_WORDS = 1000
DATED = frozenset({CommandWord.PAUSE, CommandWord.LEAVE})
WORDY = DATED | {CommandWord.FIXED, CommandWord.RETIRE}
_NUMBER = re.compile(r"[0-9]{1,9}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,64}")


def on_decision(desk: PagesDesk, call: Call) -> Answer:
    """`POST /i/<record>.<number>/<word>`; answers with the way back to the page, which tells what became of it."""
    person = person_of(desk, call)
    check_origin(desk, call)
    count_post(desk, call, person.id)
    record, number = occurrence_of(call.params["name"])
    word = next((each for each in CommandWord if each == call.params["word"]), None)
    if number is None or word is None:
        raise nothing_here()
    fields = form_of(call)
    occurrence, proposal = f"{record}.{number}", _number(fields, "proposal")
    nonce = fields.get("nonce", "")
    if not _NONCE.fullmatch(nonce) or not is_sealed(
        desk.signer,
        fields.get("seal", ""),
        person=person,
        occurrence=occurrence,
        version=_number(fields, "version") or 0,
        proposal=proposal,
        nonce=nonce,
    ):
        count_guess(desk, call)
        raise _not_ours()
    snapshot = desk.pages.snapshot(record, number)
    if snapshot is None:
        raise nothing_here()
    told = _said(desk, word, fields, snapshot, person, proposal=proposal, key=f"{DOOR}:{occurrence}:{word}:{nonce}")
    now_is = desk.pages.snapshot(record, number) or snapshot
    answer = Said(text=literal(told_line(told, now_is)), done=told.kind is ToldKind.DONE)
    query = said_query(desk.signer, answer, person=person, occurrence=occurrence)
    return see_other(desk, f"/i/{occurrence}?{urlencode(query)}")


def _said(
    desk: PagesDesk,
    word: CommandWord,
    fields: Mapping[str, str],
    snapshot: Snapshot,
    person: Person,
    *,
    proposal: int | None,
    key: str,
) -> Told:
    now = desk.clock()
    try:
        command = _read(word, fields, snapshot.team_zone, desk)
        event = said(
            word,
            argument=command.argument,
            until_at=command.until_at,
            by=By(person=person, at=now, door=DOOR),
            incident=snapshot.incident,
            proposal=proposal,
            sure=fields.get("sure") == "1",
        )
    except NoCommand as wrong:
        return Told(kind=ToldKind.INVALID, reason=str(wrong))
    except SaysNothing:
        return Told(kind=ToldKind.EXPIRED, reason="no proposal waits for a yes or no")
    occurrence = (snapshot.incident.record, snapshot.incident.number)
    (outcome,) = desk.take_in([Inbound(key=key, event=event, occurrence=occurrence)])
    desk.meters.taken(door=DOOR, result=outcome.result)
    return told_of(outcome)


def _read(word: CommandWord, fields: Mapping[str, str], zone: str, desk: PagesDesk) -> Command:
    """The fields as the line that a mail would hold, read by the same rules. Raises NoCommand."""
    if word not in WORDY:
        return Command(word=word)
    words = one_line(mask(fields.get("argument", "")[: 2 * MOST_WORDS]), MOST_WORDS)
    until = fields.get("until", "").strip()
    if word in DATED and not until:
        raise NoCommand("choose a day")
    day = f"until {until} " if word in DATED else ""
    return command_of(f"{word} {day}{words}", zone=zone, now=desk.clock())


def _number(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise bad(name, "expected a number")
    return int(text)


def _not_ours() -> Refused:
    return Refused(
        403,
        reason="seal",
        field="form",
        message="this form was not made for you by this page",
        fix="open the record again and decide there",
    )
