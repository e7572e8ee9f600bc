"""Tests of the composition root: the processes of the Procfile as real processes, on real databases."""
