"""Tests of policies.yaml: what is refused, what a good file comes to."""
