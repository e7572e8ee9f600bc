"""What the web pages show and who may look at them, put together from policies, people and the database. Changes nothing."""

from bot.pages.logins import Logins
from bot.pages.reading import Pages, RecordsAsked

__all__ = ["Logins", "Pages", "RecordsAsked"]
