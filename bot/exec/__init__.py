"""`python -m bot exec --job NAME -- COMMAND`: runs a command as cron would and reports how it went.

It needs the standard library and `bot.cron` only, so that a job begins at once; the service is not in here.
"""

from bot.exec.main import main

__all__ = ["main"]
