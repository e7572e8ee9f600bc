"""Measures what users feel: how fast a failure reaches Slack, how much is taken in, how fast a log is read."""
