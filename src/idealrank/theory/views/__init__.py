"""Tables and figures of the theory."""
