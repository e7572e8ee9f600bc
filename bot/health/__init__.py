"""How the jobs do: the use case behind `/job-health`, its page, its JSON and its metrics."""
