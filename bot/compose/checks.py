"""What readiness is made of: each dependency that is set up, asked whether it works. It mends nothing."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.adapters.slack import SlackChat
from bot.adapters.slack_scopes import missing_scopes
from bot.adapters.smtp import SmtpMail
from bot.compose.doctor_mail import trouble
from bot.compose.host_clock import clock_trouble
from bot.policies import PolicyFile
from bot.ports import Clock, SendFailed
from bot.settings import Settings
from bot.store import Storage, StorageDown
from handlers.health import OK
from storage.clock import DatabaseClock

MAIL_EVERY = timedelta(minutes=1)
"""A refused login that is tried too often closes the account."""


class Checks:
    """The checks of one process. `host_clock` is this machine's, whatever time is played; SQLite has no other.

    `mail`: the server that sends, where it is one of ours to ask.
    """

    def __init__(
        self,
        settings: Settings,
        policies: PolicyFile,
        storage: Storage,
        slack: SlackChat | None,
        host_clock: Clock,
        *,
        mail: SmtpMail | None = None,
    ) -> None:
        self._policies = policies
        self._storage = storage
        self._slack = slack
        self._host_clock = host_clock
        self._mail = mail
        self._mail_said: tuple[datetime, str] | None = None
        shared = not settings.database_url.startswith("sqlite:")
        self._database_now = DatabaseClock(settings.database_url) if shared else None

    def by_name(self) -> dict[str, Callable[[], str]]:
        checks = {"database": self._database, "policies": self._policies_state}
        if self._database_now is not None:
            checks["clock"] = self._clocks
        if self._slack is not None:
            checks["slack"] = self._slack_state
        if self._mail is not None:
            checks["mail"] = self._mail_state
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

    def _mail_state(self) -> str:
        now = self._host_clock()
        if self._mail is None:
            return OK
        if self._mail_said is None or now - self._mail_said[0] >= MAIL_EVERY:
            self._mail_said = now, _asked(self._mail)
        return self._mail_said[1]


def _asked(mail: SmtpMail) -> str:
    try:
        mail.check()
    except SendFailed as failed:
        return trouble(mail, failed)
    return OK
