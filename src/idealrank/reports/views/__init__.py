"""Results for people and programs, by feature."""
