"""OpenLineage: its events as runs of jobs, parts rolled up to the run that they belong to, and who waits for whom."""

from bot.schedulers.openlineage.decoding import decode
from bot.schedulers.openlineage.heard import DatasetHeard, Heard, JobHeard, RunHeard
from bot.schedulers.openlineage.lineage import Lineage, Taken

__all__ = ["DatasetHeard", "Heard", "JobHeard", "Lineage", "RunHeard", "Taken", "decode"]
