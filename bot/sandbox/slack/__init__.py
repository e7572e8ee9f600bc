"""A strict stand-in for a Slack workspace: Web API, people, and a page to look at; it knows nothing of ontrack."""
