"""The `local` scheduler: declared commands run on this machine as real processes, each behind a guard that outlives us.

It knows nothing of incidents; it starts, watches and reports runs, and does what the scheduler port asks.
"""

from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.scheduler import LocalScheduler

__all__ = ["LocalJob", "LocalScheduler"]
