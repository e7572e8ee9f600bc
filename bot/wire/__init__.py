"""Calls out over HTTP that are over in time, through the proxy that the environment names; it must not know who is called."""
