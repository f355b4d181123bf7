"""Tables, figures and the page of click logs and of experiments with users."""
