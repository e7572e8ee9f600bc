"""Job health: what is asked, how it is answered, and the measures behind it."""
