"""Preferences: pairs of documents with the preferred one, joined to a ranking, and counted."""
