"""The words of the web pages for states, outcomes, doors and the kinds of the timeline. It must not render."""

import re
from collections.abc import Mapping

from bot.incidents.effects import RerunResult
from bot.incidents.model import Outcome, Status
from bot.mail import CommandWord

STATES: Mapping[str, str] = {
    Status.OPEN: "Open",
    Status.RERUNNING: "Rerunning",
    Status.AWAITING_APPROVAL: "Waits for approval",
    Status.VERIFYING: "Waits for a good run",
    Status.RESOLVED: "Resolved",
    Status.PAUSED: "Paused",
    Status.RETIRED: "Retired",
    Status.LEFT: "Left as it is",
}
OUTCOMES: Mapping[str, str] = {
    Outcome.RECOVERED: "a rerun worked",
    Outcome.FIXED: "fixed",
    Outcome.RECOVERED_BY_HAND: "somebody ran it by hand",
    Outcome.RECOVERED_ALONE: "it recovered by itself",
    Outcome.NOT_NEEDED: "the run was not needed",
}
RESULTS: Mapping[str, str] = {
    RerunResult.SUCCEEDED: "worked",
    RerunResult.FAILED: "failed",
    RerunResult.CANCELLED: "was stopped",
}
DOORS: Mapping[str, str] = {
    "slack": "in Slack",
    "email": "by e-mail",
    "web": "on the web",
    "cli": "on the command line",
}
RUNS: Mapping[str, str] = {
    "started": "running",
    "retrying": "failed, tried again",
    "succeeded": "went well",
    "failed": "failed",
    "cancelled": "was stopped",
    "skipped": "was left out",
}
WORDS: Mapping[CommandWord, str] = {
    CommandWord.ACK: "Acknowledge",
    CommandWord.APPROVE: "Approve the rerun",
    CommandWord.DECLINE: "Decline the rerun",
    CommandWord.RERUN: "Rerun",
    CommandWord.FIXED: "Fixed",
    CommandWord.PAUSE: "Pause",
    CommandWord.RETIRE: "Retire",
    CommandWord.LEAVE: "Leave as it is",
}
MEANINGS: Mapping[CommandWord, str] = {
    CommandWord.ACK: "You take it. Nobody else is asked meanwhile.",
    CommandWord.APPROVE: "The scheduler is asked to rerun what is owed.",
    CommandWord.DECLINE: "It is not rerun. It waits for the owner.",
    CommandWord.RERUN: "The scheduler is asked to rerun what is owed, the oldest first.",
    CommandWord.FIXED: "You say that it is mended. A good run confirms it; what is owed stays owed until then.",
    CommandWord.PAUSE: "The scheduler is asked to stop running the job until then.",
    CommandWord.RETIRE: "The scheduler is asked never to run the job again.",
    CommandWord.LEAVE: "Nobody is asked about this failure until then. The job goes on running.",
}
HAPPENED: Mapping[str, str] = {
    "opened": "Opened",
    "failed": "Failed again",
    "returned": "Came back",
    "thread_opened": "Its own thread was opened",
    "in_storm": "Joined a storm",
    "ask": "Asked",
    "asked": "Asked",
    "asked_for_all": "Asked for all of the storm",
    "acknowledged": "Acknowledged",
    "also_acknowledged": "Acknowledged as well",
    "taken_over": "Taken over",
    "released": "Let go",
    "watching": "Somebody looks too",
    "waiting": "The owner waits",
    "rerun_planned": "Rerun planned",
    "rerun_held": "Rerun held back",
    "rerun_requested": "Rerun asked for",
    "rerun_taken": "The scheduler took the rerun",
    "rerun_started": "Rerun started",
    "rerun_lost": "Rerun not to be seen",
    "rerun_still_lost": "Rerun still not to be seen",
    "rerun_looked_up": "Rerun looked up",
    "rerun_dropped": "Rerun dropped",
    "rerun_withdrawn": "Rerun withdrawn",
    "not_rerun": "Not rerun",
    "run_by_hand": "Run by hand",
    "proposed": "Rerun proposed",
    "proposal_withdrawn": "Proposal withdrawn",
    "approved": "Approved",
    "declined": "Declined",
    "expired": "Nobody answered in time",
    "fixed": "Said to be fixed",
    "not_fixed": "Not fixed after all",
    "not_needed": "Not needed",
    "still_needed": "Needed after all",
    "verifying": "Waits for a good run",
    "unconfirmed": "Fix not confirmed",
    "paid": "A good run came",
    "good_run": "A good run came",
    "resolved": "Resolved",
    "decided": "Decided",
    "in_force": "In force",
    "not_in_force": "Not in force",
    "pause_changed": "End of the pause changed",
    "resumed": "Goes on again",
    "not_resumed": "Could not be resumed",
    "reopened": "Reopened",
    "undone": "Taken back",
    "ended": "Its time is over",
    "cause_corrected": "Cause corrected",
    "cause_marked": "Cause marked safe",
    "mark_revoked": "Safe mark revoked",
    "handed_over": "Handed over",
    "handed_back": "Handed back",
    "not_delivered": "Not delivered",
    "moved": "The thread moved",
    "refused": "Refused",
    "too_late": "Too late",
    "no_change": "Nothing changed",
    "stale": "Out of date",
    "noted": "Noted",
    "superseded": "Overtaken",
    "schedule_changed": "Schedule changed",
    "attempt_failed": "An attempt failed",
    "chronic": "Comes back again and again",
    "storm_taken": "The storm was taken",
    "thread_there": "It has its own thread",
    "after": "Came after it was settled",
    "answered": "The scheduler answered",
    "stale_answer": "An answer that nothing waits for",
    "stale_approval": "A yes or no that came too late",
    "stop_requested": "Asked to stop the rerun",
    "stop_answered": "Answer to the wish to stop",
    "unblock_requested": "Asked to let later runs go on",
    "unblock_answered": "Answer to the wish to let later runs go on",
    "run_started": "A run started",
    "run_cancelled": "A run was stopped",
    "run_skipped": "A run was left out",
    "ran": "It ran",
    "manual_failed": "A run by hand failed",
    "no_incident": "No incident",
    "upstream": "Waited for another job",
    "downstream_hung": "Another job hangs on it",
    "downstream_ran": "A job that hung on it ran",
    "downstream_alone": "A job that hung on it stands alone",
    "late_message": "A message is late",
    "not_mailed": "No mail was sent",
    "not_observed": "Nobody watched meanwhile",
    "not_there": "ontrack was away",
}
_EVENT = re.compile(r"([A-Z][a-z]+)((?:[A-Z][a-z]+)+)(?= (?:changes nothing|opens nothing|is about))")
_CAPITAL = re.compile("[A-Z]")


def reason(text: str) -> str:
    """A reason of the timeline; the name of an event in it is parted into words."""
    return _EVENT.sub(lambda found: f"{found[1]}{_CAPITAL.sub(lambda each: f' {each[0].lower()}', found[2])}", text, 1)


def happened(kind: str) -> str:
    """The kind of a timeline row in words; one that a newer version wrote, by its own name."""
    return HAPPENED.get(kind) or kind.replace("_", " ").capitalize()
