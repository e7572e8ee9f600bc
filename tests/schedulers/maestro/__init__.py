"""Tests of the Maestro connector."""
