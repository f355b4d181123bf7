"""The commands of `idealrank store`, one module each."""
