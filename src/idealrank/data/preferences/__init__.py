"""Preferences: which of two documents somebody would rather see, listed, joined to a ranking, and counted."""
