"""Netflix Maestro by its REST API: it is asked for restarts, starts and pauses, and its runs are read by polling."""
