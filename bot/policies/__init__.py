"""policies.yaml: from its text to the core's policy types, with every error at its place. It performs nothing."""

from bot.policies.loading import check, load
from bot.policies.model import Policies
from bot.policies.problems import PolicyError, Problem
from bot.policies.readings import Misread, read_duration, written_duration
from bot.policies.schema import schema
from bot.policies.showing import show
from bot.policies.specs import (
    AirflowSpec,
    EventsSpec,
    LocalJobSpec,
    LocalSpec,
    MaestroSpec,
    SchedulerSpec,
    WebhookSpec,
)
from bot.policies.voids import void_marks
from bot.policies.watching import PolicyFile, Reload, read_policies

__all__ = [
    "AirflowSpec",
    "EventsSpec",
    "LocalJobSpec",
    "LocalSpec",
    "MaestroSpec",
    "Misread",
    "Policies",
    "PolicyError",
    "PolicyFile",
    "Problem",
    "Reload",
    "SchedulerSpec",
    "WebhookSpec",
    "check",
    "load",
    "read_duration",
    "read_policies",
    "schema",
    "show",
    "void_marks",
    "written_duration",
]
