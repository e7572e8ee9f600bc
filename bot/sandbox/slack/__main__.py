"""Runs the stand-in as a process of its own, until it is stopped; it must hold no behaviour."""

import argparse
import json
import socket
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.server import LOOPBACK, config_of


def now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    options = _options()
    seed = json.loads(options.seed.read_text()) if options.seed else None
    app = build_app(
        callback=options.callback,
        signing_secret=options.signing_secret,
        clock=now,
        seed=seed,
        journal=options.journal,
    )
    listening = socket.create_server((LOOPBACK, options.port), backlog=512)
    app.state.workspace.url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    print(f"workspace on {app.state.workspace.url}", flush=True)
    uvicorn.Server(config_of(app)).run(sockets=[listening])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox.slack", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--journal", type=Path, help="file of accepted effects; read again at start")
    parser.add_argument("--callback", default=f"http://{LOOPBACK}:8000/slack/events")
    parser.add_argument("--signing-secret", required=True)
    parser.add_argument("--seed", type=Path, help="JSON: team, users, usergroups, channels, bot, commands, actions")
    return parser.parse_args()


if __name__ == "__main__":
    main()
