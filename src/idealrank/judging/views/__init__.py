"""Tables and figures about judgments."""
