"""The command line of ontrack."""
