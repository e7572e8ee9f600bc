"""People's words that come by mail or through a link of a mail: read, taken in as a click is, and answered. It opens no mailbox."""

from bot.replies.links import LinkDone, LinkRefused, Links, LinkTrouble, LinkView
from bot.replies.saying import offers, said
from bot.replies.taking import Correspondence

__all__ = [
    "Correspondence",
    "LinkDone",
    "LinkRefused",
    "LinkTrouble",
    "LinkView",
    "Links",
    "offers",
    "said",
]
