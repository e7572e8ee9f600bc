"""Tests of the demo: its jobs, its world, its control app, and the whole story."""
