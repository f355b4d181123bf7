"""Files of click logs."""
