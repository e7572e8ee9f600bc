"""Whom Maestro names as the owner of a workflow, and where the owner wants to be told, for jobs that no team claims. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.schedulers.maestro.lateness import silenced
from bot.schedulers.maestro.reading import name_of
from bot.schedulers.maestro.shapes import Definition

LONGEST = 200
MOST_PLACES = 4


def owner_of(definition: Definition) -> str:
    """`data-sales (#sales-data, x@y)`: the owner, else who wrote the version, and the places of its alerts."""
    properties = definition.properties_snapshot
    owner = name_of(properties.owner) or name_of(properties.author) or name_of(definition.metadata.version_author)
    places = [] if silenced(definition) else list(dict.fromkeys(_places(properties.alerting)))[:MOST_PLACES]
    told = f"{owner} ({', '.join(places)})" if owner and places else owner or ", ".join(places)
    return told[:LONGEST]


def _places(alerting: Any) -> Iterator[str]:
    if not isinstance(alerting, Mapping):
        return
    slack = alerting.get("slack")
    if isinstance(slack, Mapping):
        yield from _texts(slack.get("channels"))
        yield from _texts(slack.get("users"))
    yield from _texts(alerting.get("emails"))
    yield from _texts(alerting.get("pagerduties"))


def _texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, str) and one.strip():
            yield one.strip()
