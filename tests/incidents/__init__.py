"""The core, proved without any edge."""
