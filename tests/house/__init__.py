"""Tests of the house itself: import layers, locks, manners."""
