"""The core: what becomes of an incident when something happens. Pure, standard library only; it must not do anything."""
