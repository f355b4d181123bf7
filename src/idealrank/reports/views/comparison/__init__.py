"""Comparisons: a paragraph that anyone can read, tables, letters and maps of many runs, and how far the judgments reach."""
