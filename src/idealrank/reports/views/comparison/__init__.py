"""Comparisons: a paragraph that anyone can read, tables, letters and maps of many runs, and the
labels behind a verdict.
"""
