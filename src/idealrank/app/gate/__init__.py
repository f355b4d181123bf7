"""The parts of `idealrank gate`: what is asked, the baselines, and the work."""
