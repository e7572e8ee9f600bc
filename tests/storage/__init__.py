"""The behaviour of the storage, on every database that it serves."""
