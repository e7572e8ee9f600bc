"""Runs a stand-in, Slack or the scheduler, as a process of its own with a trap at its edge; it adds nothing else to it."""

import argparse
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.server import LOOPBACK, config_of
from tests.kills.edge import Edge
from tests.standins.scheduler import Scheduler, app_of
from tests.standins.scheduler_runs import Runs


def now() -> datetime:
    return datetime.now(UTC)


def slack(options: argparse.Namespace, url: str) -> Starlette:
    app = build_app(
        callback=f"{options.product}/slack/events",
        signing_secret=options.secret,
        clock=now,
        seed=json.loads(options.seed.read_text()),
        journal=options.journal,
    )
    app.state.workspace.url = url
    return app


def scheduler(options: argparse.Namespace, url: str) -> Starlette:
    runs = Runs(events=f"{options.product}/api/v1/events", token=options.token, clock=now)
    return app_of(Scheduler(journal=Journal(options.journal), secret=options.secret, runs=runs, clock=now))


def end_with_the_caller() -> None:
    """Our input closes when whoever started us is gone."""
    sys.stdin.read()
    os._exit(0)


STAND_INS: dict[str, Callable[[argparse.Namespace, str], Starlette]] = {"slack": slack, "scheduler": scheduler}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.edges", description=__doc__)
    parser.add_argument("which", choices=STAND_INS)
    parser.add_argument("--product", required=True, help="the address of the product")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--token", help="the scheduler's source token")
    parser.add_argument("--seed", type=Path, help="the workspace's seed")
    options = parser.parse_args()
    listening = socket.create_server((LOOPBACK, 0), backlog=512)
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    app = STAND_INS[options.which](options, url)
    app.add_middleware(Edge)
    print(url, flush=True)
    threading.Thread(target=end_with_the_caller, daemon=True).start()
    uvicorn.Server(config_of(app)).run(sockets=[listening])


if __name__ == "__main__":
    main()
