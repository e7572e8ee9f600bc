"""Performs what decisions asked for: lease, look when in doubt, send, then settle, retry or bury. It decides nothing."""

from bot.delivery.deliverer import Deliverer
from bot.delivery.pace import Pace

__all__ = ["Deliverer", "Pace"]
