"""What is so about a team, put together from policies, people and the database. It decides nothing and sends nothing."""

from bot.teams.owners import faults, person_trouble
from bot.teams.picture import Teams

__all__ = ["Teams", "faults", "person_trouble"]
