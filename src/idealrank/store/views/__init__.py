"""Tables of stored results."""
