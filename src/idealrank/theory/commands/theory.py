"""`idealrank theory`: what NDCG can and cannot tell as lists grow."""

import click

from idealrank.cli.lazy_groups import LazyGroup

# Command -> what it does in one line, the same line as in its own help (a test compares them).
COMMANDS = {
    "limits": "Compute the limit of NDCG as lists grow, and its mean at any length.",
    "distinguish": "Simulate the order of two rankers by a measure as lists grow.",
    "feasible": "List the discounts and cutoffs that can distinguish rankers, with reasons.",
    "figures": "Redraw the paper's figures 1 to 4 as SVG, PNG and HTML.",
}

_EPILOG = """\
Start here:

\b
  idealrank theory limits --ybar 0.1+0.8s
  idealrank theory distinguish --a 0.1+0.8s --b 0.2+0.6s --cutoff all,10 --simulations 50
  idealrank theory feasible --discount log2 --cutoff all,0.2n,10
  idealrank theory figures --output figures --number 2 --format svg

Source: Wang, Wang, Li, He, Chen and Liu (2013), A theoretical analysis of NDCG type ranking
measures, COLT.
"""


@click.group(
    cls=LazyGroup,
    lines=COMMANDS,
    home="idealrank.theory.commands",
    epilog=_EPILOG,
    short_help="Compute limits of NDCG, and draw the figures of the theory.",
)
def theory() -> None:
    """Compute limits of NDCG as lists grow, and draw the figures of the theory.

    The theory is about more and more documents for one query: limits of NDCG, the discounts and
    cutoffs that distinguish two rankers, and the number of documents this takes. For samples of
    queries, use intervals over queries.
    """
