"""Tables as values, columns and cells, and every form of a table; formats, digits, and the text
that each form takes.
"""
