"""Tests of what people see in Slack: golden messages, limits, hostile texts, modals and their answers."""
