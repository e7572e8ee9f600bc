"""Races by construction: actors that are driven step by step through the orders of their steps, on real databases."""
