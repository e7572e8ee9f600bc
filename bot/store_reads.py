"""The former name of `bot.store.reads`, until nobody imports it; defines nothing."""

from bot.store.reads import Reads, TimelineRow, Which

__all__ = ["Reads", "TimelineRow", "Which"]
