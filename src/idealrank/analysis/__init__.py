"""What follows from values and judgments together: a package for each question that somebody asks of runs."""
