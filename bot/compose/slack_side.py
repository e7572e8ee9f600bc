"""How Slack's requests come in: over HTTP where there is a signing secret, by Socket Mode where there is an app-level token."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.adapters.slack import SlackChat
from bot.adapters.slack_sockets import SlackSockets
from bot.ports import Clock
from bot.settings import Settings
from handlers.health import OK
from handlers.slack.app import dispatcher, http_door
from handlers.slack.desk import Desk
from handlers.slack.socket_mode import SocketDoor
from handlers.slack.strangers import Ours
from handlers.wire import Door

SOCKETS = "sockets"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSide:
    """`http` and `sockets` are None where the environment does not set them up; `closing` is called first of all."""

    http: Door | None = None
    sockets: SocketDoor | None = None
    closing: tuple[Callable[[], None], ...] = ()

    @property
    def checks(self) -> dict[str, Callable[[], str]]:
        """What readiness asks of it."""
        sockets = self.sockets
        return {} if sockets is None else {SOCKETS: lambda: sockets.trouble or OK}


def slack_of(settings: Settings, clock: Clock) -> SlackChat | None:
    """The workspace that the environment names."""
    if settings.slack_bot_token is None:
        return None
    return SlackChat(token=settings.slack_bot_token, clock=clock, base_url=settings.slack_api_url)


def slack_side(settings: Settings, *, desk: Desk, ours: Ours, wake: Callable[[], None]) -> SlackSide:
    """Both ways lead to the same listeners; `wake` has the watchdog look at once."""
    dispatch = dispatcher(desk, ours)
    secrets = settings.slack_signing_secrets
    http = http_door(dispatch, signing_secrets=secrets, clock=desk.clock) if secrets else None
    if settings.slack_app_token is None:
        return SlackSide(http=http)
    slack = SlackSockets(app_token=settings.slack_app_token, clock=desk.clock, base_url=settings.slack_api_url)
    sockets = SocketDoor(
        open_url=slack.open,
        dispatch=dispatch,
        clock=desk.clock,
        meters=desk.meters,
        wake=wake,
        proxy=slack.proxy(),
    )
    return SlackSide(http=http, sockets=sockets, closing=(sockets.close, slack.close))
