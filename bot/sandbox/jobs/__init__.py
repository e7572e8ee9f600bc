"""The sample jobs: small scripts that are copied beside their data and run there. Nothing imports them but their tests."""
