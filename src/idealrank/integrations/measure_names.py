"""Names that every tracker takes, from texts of measures, which have signs that none of them does."""

import hashlib
import re
from collections.abc import Iterable

_LONGEST = 120  # MLflow takes 250 letters, of which endings, prefixes and names of runs need their share
_HASHED = 8  # hexadecimal digits


def metric_names(texts: Iterable[str]) -> dict[str, str]:
    """Convert names of measures or runs to letters, digits and underscores, for MLflow and Weights & Biases.

    ``@`` becomes ``_at_``, ``+`` becomes ``_plus_``, and any other run of signs a single underscore. A name that is already taken, or very
    long, ends with digits of a hash of its text, so that no two texts share a name.

    Parameters
    ----------
    texts : iterable of str
        Texts that are logged together, in their order.

    Returns
    -------
    dict of str to str
        Names by text. Trackers store the reverse mapping next to the values, as the tag or setting ``measures``.

    Examples
    --------
    >>> metric_names(["nDCG@10", "nDCG(gain=exp2)@10", "P(rel=0.5)@5"])
    {'nDCG@10': 'nDCG_at_10', 'nDCG(gain=exp2)@10': 'nDCG_gain_exp2_at_10', 'P(rel=0.5)@5': 'P_rel_0_5_at_5'}
    >>> metric_names(["P+", "a-b", "a/b"])
    {'P+': 'P_plus', 'a-b': 'a_b', 'a/b': 'a_b_c14cddc0'}
    """
    found: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        name = _legal(text)
        if len(name) > _LONGEST or name in found.values():
            name = f"{name[:_LONGEST]}_{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:_HASHED]}"
        found[text] = name
    return found


def _legal(text: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", text.replace("@", "_at_").replace("+", "_plus_")).strip("_")
    return words if words[:1].isalpha() else f"_{words}"
