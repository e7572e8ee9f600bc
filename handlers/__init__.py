"""Incoming: doors that translate what arrives into events, and stop."""
