"""A process that has imported the product and compiled its rules, and forks it on request: a new life costs none of that.

It opens nothing before it forks: what is born here shares nothing with its siblings but that. It must outlive them all.
"""

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from bot.compose.logs import set_up_logs
from bot.compose.roles import Role
from bot.compose.running import run
from bot.delivery import Pace
from bot.evidence import ErrorReport, read_failure
from bot.policies import PolicyFile
from bot.settings import Settings
from storage.migrating import migrate
from tests.kills import company

QUICK = Pace(post=timedelta(milliseconds=2), update=timedelta(milliseconds=2))


def main() -> None:
    """Orders come line by line: `born ROLE` is answered by the pid, `ended PID` by its exit status, once it has one.

    When the orders end, whoever gave them is gone, and nobody lives on.
    """
    log = Path(sys.argv[1])
    policies = PolicyFile(Settings.from_env(os.environ).policies, env=os.environ)
    read_failure(error=ErrorReport(log=company.RESET), facts={}, last_good=None, rules=policies.current.rules)
    print("ready", flush=True)
    living: set[int] = set()
    for line in iter(sys.stdin.readline, ""):
        order, _, of = line.strip().partition(" ")
        if order == "born":
            pid = os.fork()
            if pid == 0:
                live(of, log)
            living.add(pid)
            print(pid, flush=True)
        else:
            living.discard(int(of))
            print(os.waitstatus_to_exitcode(os.waitpid(int(of), 0)[1]), flush=True)
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def live(role: str, log: Path) -> None:
    """The product's whole life in the forked process; it ends here, however it ends."""
    told = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for ours, theirs in ((os.open(os.devnull, os.O_RDONLY), 0), (told, 1), (told, 2)):
        os.dup2(ours, theirs)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 1
    try:
        be(role)
        status = 0
    finally:
        if status:
            sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(status)


def be(role: str) -> None:
    settings = Settings.from_env(os.environ)
    set_up_logs(settings.log_format)
    if role == "migrate":
        migrate(settings.database_url)
    else:
        run(settings, PolicyFile(settings.policies, env=os.environ), role=Role(role), pace=QUICK)


if __name__ == "__main__":
    main()
