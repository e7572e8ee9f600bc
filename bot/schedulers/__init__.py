"""Outgoing: one port to each kind of scheduler; they ask and look, and decide nothing."""
