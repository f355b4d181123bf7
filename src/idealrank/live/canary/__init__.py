"""Canary queries: queries with known grades, asked in rounds and watched by alarms."""
