"""Values by query, their coverage, the judged hits, and the overlap of two runs."""
