"""What stands in for the outside world in tests, each in a process of its own."""
