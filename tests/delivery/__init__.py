"""Tests of what leaves: messages, views, requests."""
