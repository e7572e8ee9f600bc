"""Outgoing: the ports to chat and mail; they send and report, and decide nothing."""
