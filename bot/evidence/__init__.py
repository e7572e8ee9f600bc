"""What went wrong and what changed: reads logs and facts; never talks to anyone."""
