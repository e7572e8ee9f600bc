"""Plays what was recorded once more, under other policies, and tells what would have come of it. It touches nothing that lives."""
