"""Makes the facts of a run fit to be kept: masked, cleaned, of bounded size; it compares nothing."""

import math
from collections.abc import Mapping
from typing import Any

from bot.evidence.cleaning import clean
from bot.evidence.masking import MASK, mask, names_secret

TEXT_CAP = 2000
LINES_CAP = 16 * 1024
ITEMS_CAP = 2000
DEPTH_CAP = 12
LEAVES_CAP = 20_000
TREE_CAP = 512 * 1024


def read_run_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a run as they may be stored: plain JSON values, nothing secret, nothing endless."""
    keeper = _Keeper()
    return {_name(name): keeper.kept(value, _name(name), 1) for name, value in list(facts.items())[:ITEMS_CAP]}


class _Keeper:
    """Walks one tree of facts and stops when it has kept enough."""

    def __init__(self) -> None:
        self._left = LEAVES_CAP
        self._room = TREE_CAP

    def kept(self, value: Any, name: str, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEPTH_CAP:
            return "[cut]"
        if isinstance(value, Mapping):
            return {
                _name(key): self.kept(inner, _name(key), depth + 1) for key, inner in list(value.items())[:ITEMS_CAP]
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self.kept(inner, name, depth + 1) for inner in list(value)[:ITEMS_CAP]]
        if value is None or isinstance(value, bool):
            return value
        if names_secret(name, number=isinstance(value, int | float)):
            return MASK
        if isinstance(value, int):
            return value if value.bit_length() <= 63 else f"{value:.6e}" if value.bit_length() < 1000 else "[cut]"
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        return self._text(str(value))

    def _text(self, value: str) -> str:
        """Keep a text, of several lines more of it, since people compare statements and configurations.

        More is masked than is kept, so that the cut falls on nothing that a whole secret would have given away.
        """
        most = LINES_CAP if "\n" in value[:LINES_CAP] else TEXT_CAP
        self._room -= min(len(value), most)
        return "[cut]" if self._room < 0 else capped(mask(clean(value[: 2 * most])), most)


def capped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _name(name: object) -> str:
    return capped(mask(clean(str(name)[:TEXT_CAP])), 200)
