"""The only package that knows SQL; decides nothing."""
