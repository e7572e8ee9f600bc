"""What became of words that were taken in before, by their idempotency keys. It takes nothing in."""

from collections.abc import Collection, Mapping

import msgspec

from bot.intake import Outcome
from bot.store import Reads


def outcomes_of(reads: Reads, keys: Collection[str]) -> Mapping[str, Outcome]:
    """The stored outcomes of those that were taken in. Raises `StorageDown`."""
    return {key: msgspec.convert(outcome, Outcome) for key, outcome in reads.outcomes(keys=keys).items()}
