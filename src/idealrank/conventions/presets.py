"""The class `Convention`, and one table of presets, each as its tool computes NDCG.

A convention is an alignment (how a run is joined to its judgments) and rules (how a measure
computes). Options set on a measure win over it. Presets reproduce what a tool means to compute;
what it does by accident (random or unstable ties, the order of NaN) is described in the
documentation and is no target.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeAlias

from idealrank.data.alignment import Alignment
from idealrank.data.lists import array_alignment
from idealrank.errors import InputError, OptionError, shown
from idealrank.measures.measure_texts import function_digest, split_outside_brackets
from idealrank.measures.rules import Rules

Proof: TypeAlias = Literal["live peer", "recorded", "source-derived", "definition"]

_ALIGNMENT = tuple(field.name for field in fields(Alignment))
SWITCHES: tuple[str, ...] = _ALIGNMENT + Rules.names()

# The switches of the first fingerprint, complete: a switch that comes later is never listed here.
# See `switches_fingerprint`.
_FIRST = frozenset(
    {
        "ties",
        "duplicates",
        "score",
        "unjudged",
        "grades",
        "negative",
        "missing",
        "without_judgments",
        "gain",
        "discount",
        "ideal",
        "no_relevant",
        "rounding",
        "cutoff",
        "recall_points",
    }
)


@dataclass(frozen=True, kw_only=True)
class Convention:
    """Rules for aligning runs with judgments and for measuring.

    Parameters
    ----------
    name : str
        Name of a preset, with any changed switches: ``"lightgbm,ties=expected"``.
    alignment : Alignment
        Ties, duplicates, score type, unjudged documents, grades, negative grades, missing queries,
        queries without judgments.
    rules : Rules
        Gain, discount, ideal, queries without relevant documents, rounding, default cutoff, recall
        points.
    tool : str
        Tool that the preset reproduces.
    proof : {"live peer", "recorded", "source-derived", "definition"}
        Evidence for the reproduction.

    Examples
    --------
    >>> convention = Convention.of("lightgbm", ties="expected")
    >>> convention.name, convention.rules.gain.text
    ('lightgbm,ties=expected', 'exp2')
    """

    name: str
    alignment: Alignment
    rules: Rules
    tool: str = ""
    proof: Proof = "definition"

    @classmethod
    def of(cls, name: "str | Convention" = "standard", **switches: Any) -> "Convention":
        """Return a preset with some switches changed.

        Parameters
        ----------
        name : str or Convention
            A preset's name, or a text such as ``"lightgbm,ties=expected"``.
        **switches
            Any of `SWITCHES`.

        Raises
        ------
        OptionError
            The preset, a switch or a value is unknown.

        Examples
        --------
        >>> Convention.of("standard,missing=left-out").alignment.missing
        'left-out'
        """
        if isinstance(name, str):
            base, text_switches = _read_text(name)
            switches = {**text_switches, **switches}
            preset = PRESETS.get(base.strip().lower())
            if preset is None:
                raise OptionError(
                    f"unknown convention {shown(repr(base))}, expected one of {', '.join(PRESETS)}"
                )
        elif isinstance(name, Convention):
            preset = name
        else:
            raise OptionError(
                f"convention: found {type(name).__name__}, expected a name, as in 'standard', "
                f"or a Convention"
            )
        return preset._with(switches) if switches else preset

    def _with(self, switches: Mapping[str, Any]) -> "Convention":
        for switch in switches:
            if switch not in SWITCHES:
                raise OptionError(
                    f"unknown switch {shown(repr(switch))}, expected one of {', '.join(SWITCHES)}"
                )
        values = dict(switches)
        if str(values.get("cutoff", "")).lower() == "none":
            values["cutoff"] = None
        alignment = Alignment(
            **{name: values.get(name, getattr(self.alignment, name)) for name in _ALIGNMENT}
        )
        rules = Rules(
            **{name: values.get(name, getattr(self.rules, name)) for name in Rules.names()}
        )
        changed = Convention(name="", alignment=alignment, rules=rules).switches()
        before = self.switches()
        differing = {name: changed[name] for name in SWITCHES if changed[name] != before[name]}
        if not differing:
            return self
        base, *old_changes = split_outside_brackets(self.name)
        changed_switches = dict(part.split("=", 1) for part in old_changes) | differing
        preset_switches = PRESETS[base].switches() if base in PRESETS else {}
        # A switch that is back at the value of the preset is no longer part of the name.
        changes = [
            f"{name}={changed_switches[name]}"
            for name in SWITCHES
            if name in changed_switches and changed_switches[name] != preset_switches.get(name)
        ]
        return Convention(
            name=",".join([base, *changes]),
            alignment=alignment,
            rules=rules,
            tool=self.tool,
            proof=self.proof,
        )

    def switches(self) -> dict[str, str]:
        """Every switch as text, in a fixed order.

        Examples
        --------
        >>> Convention.of("standard").switches()["ties"]
        'docid'
        """
        values: dict[str, str] = {name: getattr(self.alignment, name) for name in _ALIGNMENT}
        for name in Rules.names():
            value = getattr(self.rules, name)
            values[name] = "none" if value is None else str(getattr(value, "text", value))
        return values

    @property
    def fingerprint(self) -> str:
        """Hash of the switches, eight hexadecimal digits: equal if and only if values are computed
        in the same way.

        A switch of a later version counts only where it differs from its default, so that its
        arrival changes no fingerprint.

        Examples
        --------
        >>> Convention.of("trec_eval").fingerprint == Convention.of("trec_eval-10").fingerprint
        True
        """
        switches = self.switches()
        for name in ("gain", "discount"):
            function = getattr(getattr(self.rules, name), "function", None)
            if function is not None:
                switches[name] += f" {function_digest(function)}"
        return switches_fingerprint(switches)

    @property
    def unstable_from(self) -> int:
        """Number of documents from which the tool's unstable sort puts equal scores in an order of
        its own; 0 if its sort is stable.

        That order is not reproduced.

        Examples
        --------
        >>> Convention.of("ranx").unstable_from, Convention.of("ranx,ties=expected").unstable_from
        (16, 0)
        """
        if self.alignment.ties == "input":
            return _UNSTABLE_FROM.get(self.name.partition(",")[0], 0)
        return 0

    @property
    def reproduces(self) -> str:
        """Tool, and what of it is not reproduced.

        Examples
        --------
        >>> Convention.of("ranx").reproduces
        'ranx 0.3.21: ndcg of Qrels and Run; ties: below 16 documents'
        """
        if self.unstable_from:
            return f"{self.tool}; ties: below {self.unstable_from} documents"
        return self.tool

    def __str__(self) -> str:
        return f"{self.name} [{self.fingerprint}]"


def later_defaults() -> dict[str, str]:
    """Default of every switch that is younger than the first fingerprint: what records from before
    the switch imply.
    """
    defaults = Convention(name="", alignment=Alignment(), rules=Rules()).switches()
    return {name: value for name, value in defaults.items() if name not in _FIRST}


def switches_fingerprint(switches: Mapping[str, str]) -> str:
    """Hash of the switches of a convention, or of a record, which may lack younger switches.

    Stores, baseline files and papers hold fingerprints. The first switches are hashed with every
    value, and a younger one only where it differs from its default, the behaviour before it came.
    """
    later = later_defaults()
    counted = {name: value for name, value in switches.items() if value != later.get(name)}
    return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()[:8]


def array_convention(convention: "Convention | str", **switches: Any) -> Convention:
    """The convention as arrays can follow it: a preset's ties by document id become the expected
    value, for arrays have no ids.
    """
    chosen = Convention.of(convention, **switches)
    ties = chosen.alignment.ties
    possible = array_alignment(chosen.alignment).ties
    if possible == ties:
        return chosen
    # Only ties that were asked for are refused; the ties of a preset become the expected value.
    text = convention if isinstance(convention, str) else chosen.name
    changes = split_outside_brackets(text)[1:]
    if "ties" in switches or any(change.strip().startswith("ties") for change in changes):
        raise InputError(
            f"ties={ties}: found arrays, which have no document ids; expected ties=expected, "
            f"input, best or worst",
            switch="ties=expected",
        )
    return Convention.of(chosen, ties=possible)


def _read_text(text: str) -> tuple[str, dict[str, str]]:
    """Preset and switches of a text such as ``lightgbm,ties=expected``."""
    base, *changes = split_outside_brackets(text)
    switches: dict[str, str] = {}
    for change in changes:
        switch, equals, value = (part.strip() for part in change.partition("="))
        if not equals:
            raise OptionError(
                f"convention {shown(repr(change))}: expected SWITCH=VALUE after the name, as "
                f"in lightgbm,ties=expected"
            )
        switch = switch.replace("-", "_")
        if switch in switches:
            raise OptionError(
                f"convention {shown(repr(text))}: {switch} is given twice, expected each switch "
                "once"
            )
        switches[switch] = value
    return base, switches


class _Preset(NamedTuple):
    """Row of the table: the switches that differ from the defaults."""

    tool: str
    proof: Proof
    switches: dict[str, Any]


def _preset(tool: str, proof: Proof, **switches: Any) -> _Preset:
    return _Preset(tool, proof, switches)


# The switches of trec_eval; of tools that take arrays of returned documents, where judged documents
# that were not returned are unknown, every query with items is evaluated, and duplicates cannot be
# seen; and of the evaluation that search engines come with.
_TREC = {"ties": "docid", "duplicates": "error", "negative": "zero", "grades": "truncated"}
_ARRAYS = {
    "ties": "input",
    "duplicates": "twice",
    "negative": "kept",
    "missing": "left-out",
    "without_judgments": "evaluated",
    "ideal": "returned",
}
_FLOAT32 = {**_ARRAYS, "score": "float32"}
_ENGINE = {
    "ties": "input",
    "duplicates": "twice",
    "negative": "kept",
    "missing": "zero",
    "without_judgments": "evaluated",
    "gain": "exp2",
}
# Libraries that know the items a user liked, and no grades: a user without one is in no table of
# likes.
_LIKES = {
    "ties": "input",
    "duplicates": "error",
    "gain": "binary",
    "no_relevant": "left-out",
}
# Perl sorts stably, and the scripts refuse labels that are not whole numbers from 0 on. NDCG@k is
# undefined in lists shorter than k, and Perl adds 0 for it to the mean.
_LETOR = {
    **_ARRAYS,
    "negative": "error",
    "gain": "exp2",
    "discount": "jarvelin(2)",
    "short_lists": "zero",
}

_TABLE: dict[str, _Preset] = {
    "standard": _preset("trec_eval 10 with -c, float grades kept", "definition"),
    "trec_eval-9": _preset(
        "trec_eval 9.0.8, pytrec_eval-terrier 0.5.11: ndcg, ndcg_cut",
        "live peer",
        **_TREC,
        score="float32",
        missing="left-out",
        recall_points="truncated",
    ),
    "trec_eval-10": _preset("trec_eval 10.0 with -c: ndcg, ndcg_cut", "recorded", **_TREC),
    "trec_eval": _preset("trec_eval 10.0 with -c: ndcg, ndcg_cut", "recorded", **_TREC),
    "ir_measures": _preset(
        "ir_measures 0.4.3: nDCG, nDCG@k",
        "live peer",
        **_TREC | {"duplicates": "last"},
        score="float32",
        recall_points="truncated",
    ),
    "gdeval": _preset(
        "gdeval.pl through ir_measures 0.4.3: nDCG(dcg='exp-log2')@k",
        "live peer",
        **_TREC | {"duplicates": "last", "grades": "given"},
        gain="exp2",
        rounding="round-5",
    ),
    "ranx": _preset(
        "ranx 0.3.21: ndcg of Qrels and Run",
        "live peer",
        ties="input",
        duplicates="last",
        grades="truncated",
        missing="error",
    ),
    "ranx-burges": _preset(
        "ranx 0.3.21: ndcg_burges of Qrels and Run",
        "live peer",
        ties="input",
        duplicates="last",
        grades="truncated",
        missing="error",
        gain="exp2",
    ),
    "sklearn": _preset(
        "scikit-learn 1.9.1: ndcg_score",
        "live peer",
        **_ARRAYS | {"ties": "expected", "negative": "error"},
    ),
    "lightgbm": _preset(
        "LightGBM 4.7.0: metric ndcg",
        "live peer",
        **_ARRAYS | {"negative": "error"},
        gain="exp2",
        no_relevant="one",
    ),
    "xgboost": _preset(
        "XGBoost 3.2.0: ndcg@k",
        "live peer",
        **_FLOAT32 | {"negative": "error"},
        gain="exp2",
        no_relevant="one",
        cutoff=32,
    ),
    "xgboost-minus": _preset(
        "XGBoost 3.2.0: ndcg@k-",
        "live peer",
        **_FLOAT32 | {"negative": "error"},
        gain="exp2",
        no_relevant="zero",
        cutoff=32,
    ),
    "xgboost-linear": _preset(
        "XGBoost 3.2.0: ndcg@k with ndcg_exp_gain=False",
        "live peer",
        **_FLOAT32,
        no_relevant="one",
        cutoff=32,
    ),
    "catboost": _preset(
        "CatBoost 1.2.10: NDCG (type=Base)",
        "live peer",
        **_ARRAYS | {"ties": "worst"},
        no_relevant="one",
    ),
    "catboost-exp": _preset(
        "CatBoost 1.2.10: NDCG:type=Exp",
        "live peer",
        **_ARRAYS | {"ties": "worst"},
        gain="exp2",
        no_relevant="one",
    ),
    "torchmetrics": _preset(
        "torchmetrics 1.9.0: retrieval_normalized_dcg",
        "live peer",
        **_FLOAT32 | {"ties": "expected"},
        no_relevant="quotient",
    ),
    "rax": _preset(
        "Rax 0.4.0: ndcg_metric", "live peer", **_FLOAT32, gain="exp2", no_relevant="quotient"
    ),
    "keras-rs": _preset(
        "Keras-RS 0.4.0: NDCG(shuffle_ties=False)",
        "live peer",
        **_FLOAT32 | {"negative": "removed"},
        gain="exp2",
    ),
    "tf-ranking": _preset(
        "TensorFlow Ranking 0.5.5: NDCGMetric, mean over orders of ties",
        "live peer",
        **_FLOAT32 | {"ties": "expected", "negative": "removed"},
        gain="exp2",
    ),
    "allrank": _preset(
        "allRank 1.4.3: models.metrics.ndcg",
        "live peer",
        **_FLOAT32 | {"negative": "padding"},
        gain="exp2",
        no_relevant="one",
    ),
    "ignite": _preset(
        "pytorch-ignite 0.5.5: NDCG(ignore_zero_hits=False)",
        "live peer",
        **_FLOAT32 | {"negative": "zero"},
        grades="minimum",
        gain="exp2",
    ),
    "pyltr": _preset("pyltr 0.2.6: NDCG(gain_type='exp2')", "live peer", **_ARRAYS, gain="exp2"),
    "lenskit": _preset(
        "LensKit 2025.8.1: NDCG(gain='rating')",
        "live peer",
        ties="input",
        duplicates="error",
        negative="kept",
        missing="zero",
        discount="jarvelin(2)",
        no_relevant="quotient",
    ),
    "rectools": _preset("RecTools 0.19.0: NDCG", "live peer", **_LIKES, ideal="full"),
    "rectools-ideal": _preset(
        "RecTools 0.19.0: NDCG(divide_by_achievable=True)", "live peer", **_LIKES
    ),
    "implicit": _preset("implicit 0.7.3: ranking_metrics_at_k, ndcg", "live peer", **_LIKES),
    "trectools": _preset(
        "trectools 0.0.50: get_ndcg(trec_eval=True)",
        "live peer",
        ties="docid-ascending",
        duplicates="error",
        missing="left-out",
        without_judgments="evaluated",
        cutoff=1000,
    ),
    "elasticsearch": _preset(
        "Elasticsearch 8: rank_eval dcg with normalize=true",
        "source-derived",
        **_ENGINE,
        ideal="hits",
        no_relevant="quotient",
    ),
    "opensearch": _preset(
        "OpenSearch Search Relevance 3.1: NDCG@k", "source-derived", **_ENGINE, rounding="round-2"
    ),
    "rre": _preset(
        "Rated Ranking Evaluator (e478aa7): NDCGAtK",
        "source-derived",
        **_ENGINE,
        rounding="floor-2",
    ),
    "quepid": _preset(
        "Quepid 8.6.0: ndcg@10, whose ideal is not cut",
        "source-derived",
        **_ENGINE,
        ideal="uncut",
        no_relevant="quotient",
    ),
    "quepid-cut": _preset(
        "Quepid 8.6.0: ndcg_cut@10", "source-derived", **_ENGINE, no_relevant="quotient"
    ),
    "letor": _preset("LETOR 4.0, Eval-Score-4.0.pl: NDCG@k, MeanNDCG", "recorded", **_LETOR),
    "mslr": _preset(
        "MSLR, eval-score-mslr.pl: NDCG@k, MeanNDCG",
        "recorded",
        **_LETOR,
    ),
    "jarvelin-2002": _preset(
        "Jarvelin and Kekalainen 2002, base 2; pyNTCIREVAL 0.0.3: nDCG",
        "live peer",
        ties="input",
        duplicates="first",
        discount="jarvelin(2)",
    ),
    "linear-2010": _preset(
        "ECML/PKDD 2010 challenge; Jin and Geng 2011",
        "definition",
        **_ARRAYS | {"ties": "expected"},
        discount="linear",
    ),
    "rankkit": _preset(
        "rankkit 0.1.0: ndcg(gain='exp')",
        "live peer",
        ties="input",
        duplicates="error",
        negative="error",
        missing="left-out",
        gain="exp2",
        no_relevant="left-out",
    ),
}


def _make(name: str, preset: _Preset) -> Convention:
    switches = preset.switches.items()
    alignment = Alignment(**{switch: value for switch, value in switches if switch in _ALIGNMENT})
    rules = Rules(**{switch: value for switch, value in switches if switch not in _ALIGNMENT})
    return Convention(
        name=name, alignment=alignment, rules=rules, tool=preset.tool, proof=preset.proof
    )


# Numba's argsort, which ranx uses, sorts up to 15 elements by insertion, which is stable, and more
# of them by quicksort.
_UNSTABLE_FROM = {"ranx": 16, "ranx-burges": 16}

PRESETS: dict[str, Convention] = {name: _make(name, preset) for name, preset in _TABLE.items()}
