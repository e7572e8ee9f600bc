"""What readiness is made of: each dependency that is set up, asked whether it works. It mends nothing."""

from collections.abc import Callable

from bot.adapters.slack import SlackChat
from bot.adapters.slack_scopes import missing_scopes
from bot.compose.host_clock import clock_trouble
from bot.policies import PolicyFile
from bot.ports import Clock, SendFailed
from bot.settings import Settings
from bot.store import Storage, StorageDown
from handlers.health import OK
from storage.clock import DatabaseClock


class Checks:
    """The checks of one process. `host_clock` is this machine's, whatever time is played; SQLite has no other."""

    def __init__(
        self, settings: Settings, policies: PolicyFile, storage: Storage, slack: SlackChat | None, host_clock: Clock
    ) -> None:
        self._policies = policies
        self._storage = storage
        self._slack = slack
        self._host_clock = host_clock
        shared = not settings.database_url.startswith("sqlite:")
        self._database_now = DatabaseClock(settings.database_url) if shared else None

    def by_name(self) -> dict[str, Callable[[], str]]:
        checks = {"database": self._database, "policies": self._policies_state}
        if self._database_now is not None:
            checks["clock"] = self._clocks
        if self._slack is not None:
            checks["slack"] = self._slack_state
        return checks

    def close(self) -> None:
        if self._database_now is not None:
            self._database_now.close()

    def _database(self) -> str:
        try:
            self._storage.next_timer_at()
        except StorageDown as down:
            return str(down)
        return OK

    def _clocks(self) -> str:
        if self._database_now is None:
            return OK
        try:
            return clock_trouble(clock=self._host_clock, database_now=self._database_now) or OK
        except StorageDown as down:
            return str(down)

    def _policies_state(self) -> str:
        problems = self._policies.problems
        return f"the file was refused: {problems[0]}" if problems else OK

    def _slack_state(self) -> str:
        if self._slack is None:
            return OK
        try:
            missing = missing_scopes(self._slack.auth().scopes)
        except SendFailed as failed:
            return failed.code
        return f"the token lacks {', '.join(missing)}: add them to the app and reinstall it" if missing else OK
