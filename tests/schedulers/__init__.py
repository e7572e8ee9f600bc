"""The schedulers that ontrack speaks to; the local one runs real processes here."""
