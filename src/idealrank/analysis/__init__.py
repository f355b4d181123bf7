"""Analyses of values and judgments: one package for each question about runs."""
