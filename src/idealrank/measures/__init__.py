"""Measures: frozen values that turn a run joined to its judgments into one number per query.

`MEASURES` is the table of all of them, by name, and `PAIR_MEASURES` that of measures of two runs; a class is loaded when it is first
asked for. `parse_measure` reads their texts and other tools' spellings, which stand in `spellings`.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from idealrank.measures.measure import Measure

# Family by family: the module, and its classes by the name that stands in texts.
_FAMILIES: dict[str, dict[str, str]] = {
    "dcg": {"nDCG": "NDCG", "DCG": "DCG", "iDCG": "IdealDCG"},  # gains with a discount, and their ideal
    "binary": {"AP": "AP", "RR": "RR", "P": "P", "R": "R", "F": "F"},  # relevant or not, at a fixed rank or over the whole list
    "cascade": {"ERR": "ERR", "RBP": "RBP"},  # users who stop by chance, rank by rank
    "precision": {  # precision elsewhere than at a fixed rank
        "Rprec": "Rprec",
        "Success": "Success",
        "RelP": "RelativeP",
        "GMAP": "GMAP",
        "IPrec": "IPrec",
        "11ptAP": "ElevenPointAP",
    },
    "sets": {"SetP": "SetP", "SetF": "SetF", "SetAP": "SetAP"},  # the returned documents without their order
    "preference": {  # preferences between two documents
        "prefs_num_prefs_poss": "NumPrefsPoss",
        "prefs_num_prefs_ful": "NumPrefsFul",
        "prefs_simp": "PrefsSimp",
        "prefs_pair": "PrefsPair",
        "prefs_avgjg": "PrefsAvgJG",
        "prefs_avgjg_Rnonrel": "PrefsAvgJGRnonrel",
    },
    "cwl": {"INST": "INST", "INSQ": "INSQ", "BPM": "BPM", "SDCG": "SDCG", "TBG": "TBG", "GP": "GP"},  # users of the C/W/L framework
    "nerr": {"NERR8": "NERR8", "NERR9": "NERR9", "NERR10": "NERR10", "NERR11": "NERR11"},  # nearly ERR, users who stop when satisfied
    "groups": {"AP_avgjg": "APAvgJG", "P_avgjg": "PAvgJG", "Rprec_avgjg": "RprecAvgJG"},  # means over assessors
    "order": {  # pairs in the right order
        "AUC": "AUC",
        "Accuracy": "Accuracy",
        "OPA": "OPA",
        "GradeTauAP": "GradeTauAP",
        "GradeWTau": "GradeWeightedTau",
    },
    "tau_rho": {"GradeTau": "GradeTau", "GradeRho": "GradeRho"},  # correlation with the grades, over whole lists
    "rank_dcg": {"RankDCG": "RankDCG"},  # a whole order between its worst and its best
    "labels": {  # measures of learning to rank and of labels
        "ARP": "ARP",
        "PWA": "PWA",
        "LRAP": "LRAP",
        "CoverageError": "CoverageError",
        "RankingLoss": "RankingLoss",
        "Compat": "Compat",
    },
    "ntcir": {"Q": "QMeasure", "O": "OMeasure", "P+": "PPlus", "NCU": "NCU", "nERR": "NERR"},  # blended ratios of NTCIR
    "total_recall": {"LastRel": "LastRel", "WSS": "WSS", "RecallArea": "RecallArea"},  # the effort of finding everything
    "bpref": {"Bpref": "Bpref", "GMBpref": "GMBpref", "infAP": "InfAP"},  # judged documents alone
    "graded": {"G": "G", "binG": "BinG", "RnDCG": "RNDCG", "nDCG_rel": "NDCGRel"},  # gain measures of trec_eval
    "yaap": {"YAAP": "YAAP"},  # log odds
    "utility": {"Utility": "Utility"},  # the worth of a set, by its contingency table
    "judgedness": {"Judged": "JudgedShare", "Unjudged": "Unjudged"},  # shares of judged and unjudged documents
    "counts": {  # counts of documents and queries
        "NumQ": "NumQ",
        "NumRet": "NumRet",
        "NumRel": "NumRel",
        "NumRelRet": "NumRelRet",
        "NumNonrelJudgedRet": "NumNonrelJudgedRet",
    },
    "relstring": {"RelString": "RelString"},  # texts
}

# Measures of two runs, which `idealrank.overlap` computes.
_PAIR_FAMILIES: dict[str, dict[str, str]] = {
    "pairs_rbo": {"RBO": "RBO"},
    "pairs": {"overlap": "OverlapAtK", "Jaccard": "Jaccard", "Same": "SameTop"},
    "pairs_tau": {"tau": "KendallTau", "tauAP": "TauAP", "wtau": "WeightedTau"},
}

CLASS_HOMES: dict[str, str] = {
    name: f"measures.{module}"
    for families in (_FAMILIES, _PAIR_FAMILIES)
    for module, family in families.items()
    for name in family.values()
}


class _Table(Mapping[str, "type[Measure]"]):
    """Classes by name, loaded one family at a time."""

    def __init__(self, families: Mapping[str, Mapping[str, str]]) -> None:
        self._places = {name: (module, cls) for module, family in families.items() for name, cls in family.items()}

    def __getitem__(self, name: str) -> "type[Measure]":
        module, class_name = self._places[name]
        cls: type[Measure] = getattr(import_module(f"idealrank.measures.{module}"), class_name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


MEASURES: Mapping[str, "type[Measure]"] = _Table(_FAMILIES)
PAIR_MEASURES: Mapping[str, "type[Measure]"] = _Table(_PAIR_FAMILIES)
