"""Starts a run's guard and hears from it whether the claim is its own.

It decides nothing about runs, and keeps no process: the guard lives on when we do not.
"""

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.incidents.keys import RunRef
from bot.schedulers.local.claims import CLAIM_VARIABLE
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.records import RunRecord, written
from bot.schedulers.local.shim import CLAIMED, EXISTS

ROOT = Path(__file__).parents[3]
GUARD = "import sys; sys.path.append(sys.argv[1]); from bot.schedulers.local.shim import main; sys.exit(main())"
ANSWER_WITHIN = 20.0
INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


class CannotLaunch(Exception):
    """The guard could not be started, or claimed nothing; its text is for people."""


def inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def environment(*, job: LocalJob, name: str, run: RunRef, claim: Path) -> dict[str, str]:
    """The variables that a command sees: a few of ours, the declared ones, and what tells it which run it is."""
    nominal = run.nominal_time
    return {
        **inherited(),
        **job.env,
        "ONTRACK_JOB": name,
        "ONTRACK_RUN_ID": run.run_id,
        "ONTRACK_GENERATION": str(run.generation),
        **({"ONTRACK_NOMINAL_TIME": written(nominal)} if nominal is not None else {}),
        CLAIM_VARIABLE: str(claim),
    }


def launch(
    job: LocalJob, record: RunRecord, *, claim: Path, env: Mapping[str, str]
) -> "subprocess.Popen[bytes] | None":
    """Start the guard of a run and return it once it holds the claim; None when the run was claimed before."""
    spec = {
        "claim": str(claim),
        "record": record.to_json(),
        "argv": list(job.argv),
        "directory": str(job.directory.absolute()),
        "env": dict(env),
        "timeout": job.timeout.total_seconds() if job.timeout is not None else None,
        "memory": job.memory,
        "kill_after": job.kill_after.total_seconds(),
    }
    try:
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", GUARD, str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=inherited(),
            cwd=claim.parent,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CannotLaunch(f"the guard cannot be started: {error}") from error
    answer = _answer(guard, spec)
    if answer == CLAIMED:
        return guard
    guard.wait()
    if answer == EXISTS:
        return None
    raise CannotLaunch(f"the guard claimed nothing, exit code {guard.returncode}")


def _answer(guard: "subprocess.Popen[bytes]", spec: Mapping[str, Any]) -> bytes:
    """A guard that does not answer in time is ended: its claim, if it made one, is then lost for all to see."""
    assert guard.stdin is not None
    assert guard.stdout is not None
    with guard.stdout as answers:
        try:
            with guard.stdin as orders:
                orders.write(json.dumps(spec).encode())
        except OSError:
            guard.kill()
            return b""
        patience = select.poll()
        patience.register(answers, select.POLLIN)
        if not patience.poll(ANSWER_WITHIN * 1000):
            guard.kill()
            return b""
        return answers.readline()
