"""Live systems: search backends, canary queries, alarms, and the local web page."""
