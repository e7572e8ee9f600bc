"""Reads why a run failed, what class of cause it has and what changed since it last went well.

Pure: it must not know incidents, storage, the network or the clock.
"""

from bot.evidence.addresses import hide_addresses
from bot.evidence.cleaning import clean
from bot.evidence.explaining import Explanation, Said, Tried, explain_failure, tried_rules
from bot.evidence.facts import read_run_facts
from bot.evidence.masking import mask, mask_name
from bot.evidence.reading import read_failure
from bot.evidence.rule import Rule
from bot.evidence.rule_fields import RuleError
from bot.evidence.rules import RuleSet, load_rules
from bot.evidence.types import (
    REPORTED,
    UNKNOWN,
    Cause,
    Change,
    ChangeKind,
    ErrorReport,
    Evidence,
    EvidenceLine,
    RetryHint,
    RootError,
)

__all__ = [
    "REPORTED",
    "UNKNOWN",
    "Cause",
    "Change",
    "ChangeKind",
    "ErrorReport",
    "Evidence",
    "EvidenceLine",
    "Explanation",
    "RetryHint",
    "RootError",
    "Rule",
    "RuleError",
    "RuleSet",
    "Said",
    "Tried",
    "clean",
    "explain_failure",
    "hide_addresses",
    "load_rules",
    "mask",
    "mask_name",
    "read_failure",
    "read_run_facts",
    "tried_rules",
]
