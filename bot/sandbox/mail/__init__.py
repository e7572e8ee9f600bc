"""A stand-in mail system in memory: mailboxes of people and lists, ontrack's own inbox, and replies as clients write them."""
