"""Gates: in the terminal, as a comment, as JUnit, as annotations."""
