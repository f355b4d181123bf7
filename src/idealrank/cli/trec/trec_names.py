"""trec_eval's names of measures: their order, parameters, defaults and nicknames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from idealrank.cli.console import nearest
from idealrank.errors import OptionError

Parameters: TypeAlias = Literal["none", "ranks", "shares", "text"]

_RANKS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_TENTHS = tuple(str(tenth / 10) for tenth in range(11))
_MULTIPLES = tuple(str(fifth / 5) for fifth in range(1, 11))


@dataclass(frozen=True)
class Name:
    """A measure as trec_eval knows it.

    Attributes
    ----------
    parameters : {"none", "ranks", "shares", "text"}
        What may stand after the dot: nothing; whole numbers or fractions, each a measure of its own, printed in rising order; or a
        text that is one parameter.
    defaults : tuple of str
        Parameters where none is given; empty: the plain name is printed.
    """

    name: str
    parameters: Parameters = "none"
    defaults: tuple[str, ...] = ()

    def printed(self, parameter: str) -> str:
        """The name with a parameter, as trec_eval prints it.

        Examples
        --------
        >>> NAMES["iprec_at_recall"].printed("0.1"), NAMES["map"].printed("")
        ('iprec_at_recall_0.10', 'map')
        """
        if not parameter:
            return self.name
        return f"{self.name}_{float(parameter):.2f}" if self.parameters == "shares" else f"{self.name}_{parameter}"


# In trec_eval's order, which is the order of its output whatever the order on the command line.
_ORDER: tuple[Name, ...] = (
    Name("runid"),
    Name("num_q"),
    Name("num_ret"),
    Name("num_rel"),
    Name("num_rel_ret"),
    Name("map"),
    Name("gm_map"),
    Name("Rprec"),
    Name("bpref"),
    Name("recip_rank"),
    Name("iprec_at_recall", "shares", _TENTHS),
    Name("P", "ranks", _RANKS),
    Name("relstring", "text"),
    Name("recall", "ranks", _RANKS),
    Name("infAP"),
    Name("gm_bpref"),
    Name("Rprec_mult", "shares", _MULTIPLES),
    Name("utility", "text"),
    Name("11pt_avg", "text"),
    Name("binG"),
    Name("G", "text"),
    Name("dcg", "text"),
    Name("ideal_dcg", "text"),
    Name("ndcg", "text"),
    Name("ndcg_rel", "text"),
    Name("Rndcg", "text"),
    Name("ndcg_cut", "ranks", _RANKS),
    Name("map_cut", "ranks", _RANKS),
    Name("relative_P", "ranks", _RANKS),
    Name("success", "ranks", ("1", "5", "10")),
    Name("set_P"),
    Name("set_relative_P"),
    Name("set_recall"),
    Name("set_map"),
    Name("set_F", "text"),
    Name("num_nonrel_judged_ret"),
    Name("prefs_num_prefs_poss"),
    Name("prefs_num_prefs_ful"),
    Name("prefs_num_prefs_ful_ret"),
    Name("prefs_simp"),
    Name("prefs_pair"),
    Name("prefs_avgjg"),
    Name("prefs_avgjg_Rnonrel"),
    Name("prefs_simp_ret"),
    Name("prefs_pair_ret"),
    Name("prefs_avgjg_ret"),
    Name("prefs_avgjg_Rnonrel_ret"),
    Name("prefs_simp_imp"),
    Name("prefs_pair_imp"),
    Name("prefs_avgjg_imp"),
    Name("map_avgjg"),
    Name("P_avgjg", "ranks", _RANKS),
    Name("Rprec_mult_avgjg", "shares", _MULTIPLES),
    Name("yaap"),
    Name("rbp", "text"),
    Name("rbp_resid", "text"),
    Name("unj", "ranks", ("5", "10", "20")),
)
NAMES: dict[str, Name] = {entry.name: entry for entry in _ORDER}

_ALL = tuple(NAMES)
_ALWAYS = ("runid", "num_q")
_ALL_PREFS = tuple(name for name in _ALL if name.startswith("prefs_"))
# yaap and the two sums of nDCG are printed only when they are named.
_ONLY_BY_NAME = {"dcg", "ideal_dcg", "yaap"}
_SINCE_10 = {"rbp", "rbp_resid", "unj"}
_COUNTS = ("num_ret", "num_rel", "num_rel_ret")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _ALL[: _ALL.index("P") + 1],
    "set": (*_ALWAYS, *_COUNTS, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "all_trec": tuple(name for name in _ALL if name not in _ONLY_BY_NAME and "prefs" not in name and "avgjg" not in name),
    "prefs": (*_ALWAYS, *_ALL_PREFS[:6]),
    "all_prefs": (*_ALWAYS, *_ALL_PREFS),
    "qrels_jg": (*_ALWAYS, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


def chosen(texts: Sequence[str], *, new: bool = True) -> dict[str, tuple[str, ...]]:
    """Names in trec_eval's order, each with the parameters it is computed for; empty where it has none.

    Parameters
    ----------
    texts : sequence of str
        Values of ``-m``; without any, the official measures.
    new : bool
        Whether sets have the measures that are new in 10.

    Raises
    ------
    OptionError
        A name is unknown, or a parameter is not what the measure takes.

    Examples
    --------
    >>> chosen(["ndcg_cut.20,10.9", "map", "P.5", "P.10"])
    {'map': (), 'P': ('5', '10'), 'ndcg_cut': ('10', '20')}
    """
    given: dict[str, list[str]] = {}
    for text in texts or ["official"]:
        name, dot, parameters = text.partition(".")
        if name in NICKNAMES and not dot:
            for member in NICKNAMES[name]:
                if new or member not in _SINCE_10:
                    given.setdefault(member, [])
        elif name in NAMES:
            given.setdefault(name, []).extend(_parameters(NAMES[name], text, parameters) if dot else ())
        else:
            raise _unknown(text, name)
    return {name: _sorted(NAMES[name], tuple(given[name])) for name in NAMES if name in given}


def _parameters(name: Name, text: str, parameters: str) -> list[str]:
    if name.parameters == "none":
        raise OptionError(f"-m {text}: {name.name} takes no parameters")
    if name.parameters == "text":
        return [parameters]
    return [_one(name, text, part) for part in parameters.split(",")]


def _one(name: Name, text: str, part: str) -> str:
    """A parameter as a number's text; of ranks, what follows a point is dropped."""
    try:
        number = float(part)
        if name.parameters == "ranks" and number >= 1:
            return str(int(number))
        if name.parameters == "shares" and 0 <= number < float("inf"):
            return str(number)
    except (ValueError, OverflowError):
        pass
    expected = "ranks of at least 1" if name.parameters == "ranks" else "numbers of at least 0"
    raise OptionError(
        f"-m {text}: found {part!r}, expected {expected} with commas between, as in {name.name}.{','.join(name.defaults[:2])}"
    )


def _sorted(name: Name, parameters: tuple[str, ...]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(parameters or name.defaults))
    return distinct if name.parameters == "text" else tuple(sorted(distinct, key=float))


def _unknown(text: str, name: str) -> OptionError:
    stem, _, cut = name.rpartition("_")
    if stem in NAMES and NAMES[stem].parameters in ("ranks", "shares"):
        return OptionError(f"unknown measure {text!r}; what follows the name stands after a dot, as in {stem}.{cut}")
    near = nearest(name, [*NAMES, *NICKNAMES])
    hint = f"; did you mean {near}?" if near else ""
    return OptionError(f"-m {text}: unknown measure, expected one of trec_eval's, or {', '.join(NICKNAMES)}{hint}")
