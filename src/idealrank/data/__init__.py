"""Judgments, runs and the one join between them."""
