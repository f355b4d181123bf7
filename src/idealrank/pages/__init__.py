"""Figures, pages and notebook views, shared by all features."""
