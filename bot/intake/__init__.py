"""The only road by which an incident changes: events in, decisions out, one transaction. It speaks neither SQL nor HTTP."""

from bot.intake.inbound import Consume, Inbound, Outcome, Result
from bot.intake.take import Intake

__all__ = ["Consume", "Inbound", "Intake", "Outcome", "Result"]
