"""Files of pools, nuggets and pairs to judge."""
