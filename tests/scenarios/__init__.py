"""The lines of the hard scenarios as tests; each is marked with its number."""
