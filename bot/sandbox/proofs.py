"""What the chapters of the story prove with: runs that began or did not, words that were said or were not. They act on nothing."""

from datetime import datetime, timedelta

from bot.sandbox.telling import Chapter, Stage
from bot.sandbox.witness import Json, Seen

FIRST = timedelta(seconds=40)


def good_run(chapter: Chapter) -> None:
    chapter.await_true(
        "first good run",
        "has run well",
        lambda: chapter.stage.witness.memory(chapter.job).last_good is not None,
        within=FIRST,
        told=False,
    )


def released(chapter: Chapter, seen: Seen, *, downstream: str) -> None:
    """The thread says that the downstream job can go on, and a run of what was owed proves it."""
    owed = seen.incident.failure.run.nominal_time
    chapter.see(
        "downstream released",
        f"lets {downstream} go on",
        thread=lambda seen: seen.says("Downstream can go on", downstream),
        record=lambda _: brought(chapter.stage, downstream, owed),
    )


def brought(stage: Stage, job: str, nominal_time: datetime | None) -> bool:
    good = stage.witness.memory(job).last_good
    brought = good.run.nominal_time if good else None
    return brought is not None and nominal_time is not None and brought >= nominal_time


def has_begun(stage: Stage, job: str, at: datetime) -> bool:
    latest = stage.witness.memory(job).latest_started
    return latest is not None and latest >= at


def stood_still(chapter: Chapter, since: datetime | None, *, until: datetime, every: timedelta) -> bool:
    """Whether runs were due in this time and none of them was ever told."""
    due = chapter.stage.witness.runs_due(chapter.job, since=since or until, until=until, every=every)
    return bool(due) and not any(ran for _, ran in due)


def on_it(seen: Seen, name: str) -> bool:
    return any("On it" in line and name in line for line in seen.root_text.splitlines())


def spoken_of(stage: Stage, job: str) -> bool:
    texts = (str(message.get("text")) for _, thread in stage.witness.threads() for message in thread)
    return any(job in text for text in texts)


def next_run_pays(view: Json) -> Json:
    """For each owed time: the next run pays it."""
    return {each["block_id"]: "next_run" for each in view["blocks"] if each["block_id"].startswith("owed:")}
