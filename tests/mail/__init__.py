"""Tests of the reader of replies by mail."""
