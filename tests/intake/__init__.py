"""Tests of the road that every event takes."""
