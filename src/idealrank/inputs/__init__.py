"""Answer questions about anything a user may hold: paths, mappings, dataframes, arrays. One module
a question.
"""
