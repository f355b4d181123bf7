"""Results as text: tables for people, JSON, CSV and trec_eval's layout for programs."""
