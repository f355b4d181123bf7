"""The local web page: runs, comparisons and canaries of a store, rendered on the server and
read-only.
"""
