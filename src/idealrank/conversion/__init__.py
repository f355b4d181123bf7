"""Judgments and runs moved from the format of one tool to the format of another, with a report of
what the other cannot hold.
"""
