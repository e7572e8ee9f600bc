"""The door for Slack: clicks, modals, commands and the Home tab become events, and people get a private answer."""
