"""Tables of search runs and of judges."""
