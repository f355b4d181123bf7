"""Reading judgments and runs from files, streams and dataframes: everything foreign is parsed here,
once, and nothing is lost silently.
"""
