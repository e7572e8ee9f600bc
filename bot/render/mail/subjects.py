"""The subjects of mails, one line each; it must not say what changes, since one record is one conversation."""

from bot.render.snapshot import Snapshot
from bot.render.text import one_line, shortened_middle

MOST_SUBJECT = 120
MOST_JOB = 80
LATE = "late."


def subject_of(snapshot: Snapshot) -> str:
    """The subject of every mail about this record: its job, and how it began, which its fingerprint remembers."""
    incident = snapshot.incident
    job = shortened_middle(one_line(incident.job.name, 1000), MOST_JOB)
    began = "is late" if incident.fingerprint.startswith(LATE) else "failed"
    return subject(f"{job} {began} (#{incident.record})")


def subject(about: str) -> str:
    return one_line(f"[ontrack] {about}", MOST_SUBJECT)
