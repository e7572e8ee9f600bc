"""The `local` scheduler: declared commands run on this machine as real processes, each behind a guard that outlives us.

Nothing is imported here: the guard of a run loads this package, and must be quick to start.
"""
