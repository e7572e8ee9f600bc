"""The stand-in workspace and the sample jobs; nothing of the product depends on them."""
