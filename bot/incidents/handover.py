"""Handing an occurrence to another team and back: who decides and who is asked changes, the job's policy stays.

Who may say it is checked before anything here runs.
"""

from dataclasses import replace

from bot.incidents import asking
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind, ToldKind
from bot.incidents.events import HandBackWanted, HandOverWanted
from bot.incidents.model import Chase, Status
from bot.incidents.people import By, Handover
from bot.incidents.situation import Answering

WRONG_TEAM = "wrong_team"
ASKED_IN = frozenset({Status.OPEN, Status.AWAITING_APPROVAL})


def hand_over(draft: Draft, event: HandOverWanted) -> None:
    """It was taken to the wrong team: the named one answers from now on, and its on-call is asked anew."""
    situation, other, was = draft.situation, draft.situation.other, _answers(draft)
    if other is None or other.team is None:
        draft.tell(ToldKind.INVALID, f"there is no team {event.team} in policies.yaml", about="team")
        return
    if other.team.name == was:
        draft.tell(ToldKind.INVALID, f"{was} answers it already", about="team")
        return
    home = situation.policy.team is not None and other.team.name == situation.policy.team.name
    step = Handover(team=other.team.name, came_from=was, by=event.by, note=event.note)
    draft.set(handed=() if home else (*draft.incident.handed, step))
    draft.note(
        "handed_over",
        event.note or f"{other.team.name} has to answer it",
        by=event.by,
        team=other.team.name,
        was=was,
        correction=WRONG_TEAM,
    )
    _follow(draft, other, event.by, was=was, note=event.note)
    draft.tell(ToldKind.DONE, f"{other.team.name} answers it from now on")


def hand_back(draft: Draft, event: HandBackWanted) -> None:
    """The last hand-over is taken back: the team that it came from answers again."""
    handed, other, was = draft.incident.handed, draft.situation.other, _answers(draft)
    if not handed or other is None:
        draft.tell(ToldKind.OTHER_STATE, "it was not handed over", status=draft.incident.status)
        return
    to = other.team.name if other.team else ""
    draft.set(handed=handed[:-1])
    draft.note("handed_back", event.note or "the hand-over was taken back", by=event.by, team=to, was=was)
    _follow(draft, other, event.by, was=was, note=event.note, back=True)
    draft.tell(ToldKind.DONE, f"{to or 'its own team'} answers it again")


def _answers(draft: Draft) -> str:
    team = draft.situation.team
    return team.name if team else ""


def _follow(draft: Draft, other: Answering, by: By, *, was: str, note: str, back: bool = False) -> None:
    """From here on the other team is meant: nobody of it holds the occurrence, and asking begins anew."""
    incident, own = draft.incident, draft.situation.policy.team
    asked = incident.status in ASKED_IN
    to = other.team.name if other.team else ""
    draft.set(
        first_word_at=incident.first_word_at or by.at,
        acknowledgement=None,
        chase=Chase(count=incident.chase.count, asked_before=incident.chase.asked_before),
    )
    draft.reply(ReplyKind.HANDED, by=by, to=to, was=was, note=note, back=back, asked=asked)
    away = other.team if other.team is not None and (own is None or other.team.name != own.name) else None
    draft.situation = replace(draft.situation, directory=other.directory, handed=away)
    if asked:
        word = "handed it back" if back else "handed it over"
        asking.ask_owner(draft, f"{by.person} {word}{f' from {was}' if was else ''}")
