"""Figures as Vega-Lite specifications that pure functions make, and the library that draws them."""
