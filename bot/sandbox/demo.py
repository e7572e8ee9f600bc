"""The whole product in one process beside a stand-in workspace and sample jobs: `python -m bot demo`.

Nothing of it is used outside the sandbox, and nothing outside knows that it runs in one.
"""

import errno
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue

import uvicorn
from starlette.applications import Starlette

from bot.compose import Service, build
from bot.compose.logs import set_up_logs
from bot.compose.post import Post
from bot.delivery import Pace
from bot.policies import PolicyFile
from bot.sandbox.control import control_app
from bot.sandbox.feed import Feed
from bot.sandbox.mail.control import MailControl
from bot.sandbox.mail.office import ADDRESS, AUTHSERV_ID, SENDER, PostOffice
from bot.sandbox.remains import end_living_runs
from bot.sandbox.seed import LISTS, seed, settings, writers
from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.server import LOOPBACK, STARTING, STOPPING, AnnouncingServer, Server, config_of, serve
from bot.sandbox.tour import Tour
from bot.sandbox.world import SampleAction, World
from bot.settings import Settings

QUICK = Pace(post=timedelta(milliseconds=5), update=timedelta(milliseconds=10))
DROPPED_NOW_AND_THEN = {"payments": 9, "refunds": 7}
WELCOME = """
ontrack's sandbox is running:  {address}

  Everything there is real but the workspace: commands run on short schedules, on files under
  {directory}

  What to try, with the person switcher at the page's corner:
    - #finance-jobs: wait half a minute. payments_import fails and is rerun by itself; nobody is called.
    - refunds_import: a rerun is over its budget. As Ana press Approve; as Sam (a stranger) be refused.
    - exchange_rates: press Acknowledge as Ana, then as Ben. Repair config/rates.ini (or the button
      "Repair config/rates.ini"), press Fixed, and watch the next good run confirm it.
    - ledger_close is late, and closes by itself when it is done.
    - #growth-jobs: customer_segments lost a column: read its evidence; as Gita pause or leave it.
    - stock_count: its owner Nora is not in Slack. Be her, open her inbox, and answer the mail with "ack".
    - "Slack is down" at the side: what is asked then comes by mail; answer it, and let Slack come back.
    - the sample actions at the side break and repair things, as often as you like.

  Ctrl-C ends it.
"""

LOOK_UP = 0.25


@dataclass(slots=True, kw_only=True)
class Demo:
    """A running sandbox. `address` is the workspace's page; `actions` are its sample actions by name."""

    directory: Path
    address: str
    control: str
    settings: Settings
    actions: dict[str, SampleAction]
    _endings: list[Callable[[], None]] = field(default_factory=list)

    def stop(self) -> None:
        """End everything, the last begun first; no process and no thread of it stays."""
        while self._endings:
            self._endings.pop()()


class PortTaken(Exception):
    """The page's port is in use; the text says what to do."""


def start(
    directory: Path, *, port: int = 0, tour: bool = True, dropped_now_and_then: dict[str, int] | None = None
) -> Demo:
    """Start everything in this process with its files in `directory`; port 0 takes a free one. Raises `PortTaken`."""
    endings: list[Callable[[], None]] = []
    try:
        return _started(directory.absolute(), port, tour, dropped_now_and_then or {}, endings)
    except BaseException:
        while endings:
            endings.pop()()
        raise


def run(*, port: int, directory: Path | None = None) -> int:
    """Start the demo, say where it is and what to try, and hold it until Ctrl-C. Returns the exit code."""
    set_up_logs("console", level=30)
    place = directory or Path(tempfile.mkdtemp(prefix="ontrack-demo-"))
    asked: SimpleQueue[int] = SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: asked.put(number))
    try:
        demo = start(place, port=port, dropped_now_and_then=DROPPED_NOW_AND_THEN)
    except PortTaken as taken:
        print(taken, file=sys.stderr)
        return 1
    print(WELCOME.format(address=demo.address, directory=demo.directory), flush=True)
    while asked.empty():
        time.sleep(LOOK_UP)  # and not `get`: a signal that another thread got is handled only when this one runs
    print("\nStopping.", flush=True)
    demo.stop()
    print(f"Stopped. What it did is kept in {demo.directory}", flush=True)
    return 0


def _started(
    directory: Path, port: int, tour: bool, dropped_now_and_then: dict[str, int], endings: list[Callable[[], None]]
) -> Demo:
    feed = Feed(now_and_then=dropped_now_and_then)
    endings.append(feed.stop)
    world = World(directory, feed)
    world.prepare()
    endings.append(world.release_ledger)
    actions = {one.name: one for one in world.actions()}
    control = serve(control_app(tuple(actions.values())))
    endings.append(control.stop)
    door = socket.create_server((LOOPBACK, 0), backlog=512)
    endings.append(door.close)
    service_port = door.getsockname()[1]
    workspace_door = _page_door(port)
    address = f"http://{LOOPBACK}:{workspace_door.getsockname()[1]}"
    made = settings(directory, workspace=address, port=service_port)
    office = PostOffice(people=writers(), lists=tuple(address for address, _ in LISTS), clock=utc_now)
    workspace = build_app(
        callback=f"http://{LOOPBACK}:{service_port}/slack/events",
        signing_secret=made.slack_signing_secret or "",
        clock=utc_now,
        seed=seed(actions=tuple(actions.values()), control=control.url),
        journal=directory / "workspace.jsonl",
        beside=MailControl(office, utc_now).routes(),
    )
    workspace.state.workspace.url = address
    endings.append(serve_on(workspace_door, workspace, address).stop)
    policies = PolicyFile(made.policies, env={"PYTHON": sys.executable, "FEED": feed.address})
    service = build(made, policies, pace=QUICK, post=post_of(office))
    endings.append(lambda: _stop_service(service, directory))
    endings.append(serve_on(door, service.app, f"http://{LOOPBACK}:{service_port}").stop)
    service.start()
    if tour:
        guide = Tour(actions=actions)
        guide.start()
        endings.append(guide.stop)
    return Demo(
        directory=directory, address=address, control=control.url, settings=made, actions=actions, _endings=endings
    )


def post_of(office: PostOffice) -> Post:
    """The stand-in mail system as the service gets it."""
    return Post(mail=office.mail, sender=SENDER, mailbox=office.mailbox, name=ADDRESS, authserv_id=AUTHSERV_ID)


def utc_now() -> datetime:
    return datetime.now(UTC)


def serve_on(listening: socket.socket, app: Starlette, url: str) -> Server:
    """Serve the app on a socket that listens already; returns when it answers."""
    ready = threading.Event()
    server: uvicorn.Server = AnnouncingServer(config_of(app), ready)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name=f"serve {url}", daemon=True)
    thread.start()
    if not ready.wait(STARTING.total_seconds()):
        raise RuntimeError(f"nothing answers on {url} after {STARTING}")
    return Server(url, server, thread)


def _page_door(port: int) -> socket.socket:
    try:
        return socket.create_server((LOOPBACK, port), backlog=512)
    except OSError as failed:
        if failed.errno in (errno.EADDRINUSE, errno.EACCES):
            raise PortTaken(
                f"port {port} cannot be used ({failed.strerror}); try another: demo --port 8090"
            ) from failed
        raise


def _stop_service(service: Service, directory: Path) -> None:
    service.stop()
    end_living_runs(directory / "state", within=STOPPING)
