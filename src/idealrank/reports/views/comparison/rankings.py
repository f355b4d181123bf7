"""Similarity of the rankings of two runs, in sentences."""

import math

from idealrank.analysis.comparison import Rankings


def unchanged(found: Rankings | None) -> list[str]:
    r"""A sentence for each depth looked at, the first with RBO; none where rankings were not compared.

    The depth said is that of the lists where they are shorter than the cutoff: 4.3 of 10 results are shared, not 42.8 of 100. Where lists
    of several lengths are, there is no one depth, and the sentence gives the share.

    Examples
    --------
    >>> unchanged(Rankings(200, {"Same@10": 0.155, "Same(order=any)@10": 0.155, "overlap@10": 0.61, "RBO(p=0.9)@100": 0.62}))
    ['The first 10 results are the same on 31 of the 200 queries that both answer; on average 6.1 of 10 are shared, RBO 0.62.']
    """
    if found is None:
        return []
    if not found.queries:
        return ["The runs answer no query of these in common."]
    rbo = [f", RBO {mean:.2f}" for text, mean in found.mean.items() if text.startswith("RBO") and math.isfinite(mean)][:1]
    depths = [text.removeprefix("Same@") for text in found.mean if text.startswith("Same@")]
    depths = [depth for depth in depths if found.mean.keys() >= {f"Same(order=any)@{depth}", f"overlap@{depth}"}]
    said = list(dict.fromkeys(_at(depth, found) for depth in depths))  # two cutoffs beyond short lists look at the same ranks
    return [one + (rbo[0] if rbo and not number else "") + "." for number, one in enumerate(said)]


def _at(depth: str, found: Rankings) -> str:
    same, in_any_order = (round(found.queries * found.mean[f"{text}@{depth}"]) for text in ("Same", "Same(order=any)"))
    shared = found.mean[f"overlap@{depth}"]
    what, ranks = _looked_at(depth, found)
    if same == found.queries:
        return f"{what} the same on each of the {same:,} queries that both answer"
    more = f", and on {in_any_order - same:,} more in another order" if in_any_order > same else ""
    text = f"{what} the same on {f'{same:,}' if same else 'none'} of the {found.queries:,} queries that both answer{more}"
    # overlap@k divides by k: times k it is a number of documents, whatever the lengths of the lists.
    count = f"{shared * int(depth):.1f}" if depth.isdigit() else f"{shared:.0%}"
    share = count if ranks is None else f"{count} of {ranks}"
    return text if ranks == 1 else f"{text}; on average {share} are shared"


def _looked_at(depth: str, found: Rankings) -> tuple[str, int | None]:
    """Subject of the sentence, and the number of ranks where all queries have the same: k, or fewer where lists are shorter."""
    asked = int(depth) if depth.isdigit() else 0
    fewest, most = found.depths.get(f"overlap@{depth}", (asked, asked))
    if not asked or fewest != most:
        return f"The first {depth} results{', or all of shorter lists,' if asked else ''} are", None
    return ("The first result is" if most == 1 else f"The first {most:,} results are"), most
