"""The product as a process to be measured, at the pace given: `python -m bench.serve 0` sends without spacing."""

import logging
import os
import sys
from datetime import timedelta

from bot.compose.roles import Role
from bot.compose.running import run
from bot.delivery import Pace
from bot.policies import PolicyFile
from bot.settings import Settings


def main(milliseconds: str) -> None:
    """Run everything in one process; a negative number stands for the product's own pace."""
    logging.basicConfig(level=logging.ERROR)
    settings = Settings.from_env(os.environ)
    gap = timedelta(milliseconds=int(milliseconds))
    pace = Pace() if int(milliseconds) < 0 else Pace(post=gap, update=gap)
    run(settings, PolicyFile(settings.policies, env={}), role=Role.RUN, pace=pace)


if __name__ == "__main__":
    main(sys.argv[1])
