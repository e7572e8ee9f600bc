"""The product without its doors and its database: the core, the use cases and what they speak through."""
