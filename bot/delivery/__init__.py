"""Performs what decisions asked for: lease, look when in doubt, send, then settle, retry or bury. It decides nothing."""

from bot.delivery.deliverer import Deliverer
from bot.delivery.late import LateAsks
from bot.delivery.letters import Letters
from bot.delivery.mails import Mailer
from bot.delivery.pace import Pace

__all__ = ["Deliverer", "LateAsks", "Letters", "Mailer", "Pace"]
