"""The parts of `idealrank gate`: what is asked, the baselines, the work, and what is written."""
