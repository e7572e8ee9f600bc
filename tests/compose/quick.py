"""One process of the product at a faster pace than Slack allows: `python -m tests.compose.quick worker 5`. Nothing else differs."""

import os
import sys
from datetime import timedelta

from bot.compose.logs import set_up_logs
from bot.compose.roles import Role
from bot.compose.running import run
from bot.delivery import Pace
from bot.policies import PolicyFile
from bot.settings import Settings


def main(role: str, milliseconds: str) -> None:
    """Be that process, with so many milliseconds between two calls of a lane."""
    settings = Settings.from_env(os.environ)
    set_up_logs(settings.log_format)
    gap = timedelta(milliseconds=int(milliseconds))
    run(settings, PolicyFile(settings.policies, env={}), role=Role(role), pace=Pace(post=gap, update=gap))


if __name__ == "__main__":
    main(*sys.argv[1:])
