"""Click logs and what follows from them, as tables, JSON and CSV; judgments from clicks, as
lines.
"""
