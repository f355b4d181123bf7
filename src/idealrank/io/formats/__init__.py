"""Formats of judgments and runs, a module each, and which of them a file has."""
