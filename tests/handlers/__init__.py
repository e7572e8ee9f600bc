"""The doors in: over real HTTP on the loopback, with a recording double where intake stands."""
