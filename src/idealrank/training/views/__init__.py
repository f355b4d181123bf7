"""Tables and learning curves of trained models."""
