"""The workspace's own address and id: messages' web addresses, and who is a stranger.

It asks Slack for them once, and never while it is asked.
"""

import logging

from bot.adapters.slack import SlackChat
from bot.ports import SendFailed

log = logging.getLogger(__name__)


class ThreadUrl:
    """The address of a message, once the workspace's own address was read; asking for it never waits for Slack.

    `workspace`: our workspace's id; None while it is not known, and in an organisation, whose people may be of any of its own.
    """

    def __init__(self, slack: SlackChat | None) -> None:
        self._slack = slack
        self._base: str | None = None
        self.workspace: str | None = None

    def __call__(self, channel: str, ts: str) -> str | None:
        return f"{self._base}/archives/{channel}/p{ts.replace('.', '')}" if self._base else None

    def learn(self) -> None:
        """Read the workspace's address, until it is known."""
        if self._base is not None or self._slack is None:
            return
        try:
            found = self._slack.auth()
        except SendFailed as failed:
            log.warning("the workspace's address is not known yet", extra={"code": failed.code})
            return
        self._base = found.url.rstrip("/")
        self.workspace = None if found.enterprise_id else found.team_id
