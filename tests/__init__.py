"""Tests of ontrack."""
