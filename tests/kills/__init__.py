"""Real processes that are killed at the worst moments, and what must be true of the world afterwards."""
