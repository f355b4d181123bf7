"""A comparison or an evaluation as one HTML file that opens anywhere and asks nothing of any
server.
"""
