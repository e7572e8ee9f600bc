"""Tests of the web pages: through the real app, with the real road and a real database behind it."""
