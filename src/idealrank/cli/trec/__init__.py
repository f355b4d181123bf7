"""The trec_eval front: its options, its names of measures, and what it prints."""
