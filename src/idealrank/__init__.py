"""Ranking evaluation that explains itself.

The public names are loaded when first used, so that ``import idealrank`` costs little more than NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from idealrank.version import __version__

if TYPE_CHECKING:
    from idealrank import stats, theory
    from idealrank.advice import Advice
    from idealrank.agreement import kendall, rank_dcg, spearman
    from idealrank.api import dcg, evaluate, ndcg, read_assessors, read_preferences, read_qrels, read_run
    from idealrank.conventions import PRESETS, Convention
    from idealrank.coverage import Coverage
    from idealrank.data.assessors import AssessorQrels
    from idealrank.data.judged import Judged
    from idealrank.data.lists import Lists
    from idealrank.data.preferences import PreferenceQrels
    from idealrank.data.qrels import Qrels
    from idealrank.data.run import Run
    from idealrank.errors import (
        FileFormatError,
        IdealrankError,
        IdealrankWarning,
        IncompatibleError,
        InputError,
        MissingExtraError,
        OptionError,
    )
    from idealrank.evaluation import Evaluation
    from idealrank.explanation import Explanation
    from idealrank.inquiry import advise, attribute, explain, overlap, reconcile, robust, split_difference
    from idealrank.io.by_query import read_categories, read_clusters, read_traffic
    from idealrank.likeness import Overlap
    from idealrank.measures import MEASURES, PAIR_MEASURES
    from idealrank.measures.binary import AP, RR, F, P, R
    from idealrank.measures.bpref import Bpref, GMBpref, InfAP
    from idealrank.measures.cascade import ERR, RBP
    from idealrank.measures.counts import NumNonrelJudgedRet, NumQ, NumRel, NumRelRet, NumRet
    from idealrank.measures.cwl import BPM, GP, INSQ, INST, SDCG, TBG
    from idealrank.measures.dcg import DCG, NDCG, IdealDCG
    from idealrank.measures.graded import RNDCG, BinG, G, NDCGRel
    from idealrank.measures.groups import APAvgJG, PAvgJG, RprecAvgJG
    from idealrank.measures.judgedness import JudgedShare, Unjudged
    from idealrank.measures.labels import ARP, LRAP, PWA, Compat, CoverageError, RankingLoss
    from idealrank.measures.measure import Measure, PerQuery
    from idealrank.measures.nerr import NERR8, NERR9, NERR10, NERR11
    from idealrank.measures.order import AUC, OPA, Accuracy, GradeTauAP, GradeWeightedTau
    from idealrank.measures.pairs import Jaccard, OverlapAtK, SameTop
    from idealrank.measures.pairs_rbo import RBO
    from idealrank.measures.pairs_tau import KendallTau, TauAP, WeightedTau
    from idealrank.measures.pairwise_loss import PairwiseLoss, pairwise_loss
    from idealrank.measures.parse import parse_measure
    from idealrank.measures.precision import GMAP, ElevenPointAP, IPrec, RelativeP, Rprec, Success
    from idealrank.measures.preference import NumPrefsFul, NumPrefsPoss, PrefsAvgJG, PrefsAvgJGRnonrel, PrefsPair, PrefsSimp
    from idealrank.measures.rank_dcg import RankDCG
    from idealrank.measures.relstring import RelString
    from idealrank.measures.sets import SetAP, SetF, SetP
    from idealrank.measures.tau_rho import GradeRho, GradeTau
    from idealrank.measures.total_recall import WSS, LastRel, RecallArea
    from idealrank.measures.user import measure
    from idealrank.measures.utility import Utility
    from idealrank.measures.yaap import YAAP
    from idealrank.reconciliation import DifferenceSplit, Reconciliation
    from idealrank.reporting import report
    from idealrank.settings import choose
    from idealrank.store import Store
    from idealrank.trackers import log_to_mlflow, log_to_wandb
    from idealrank.verdict import (
        Attribution,
        Choice,
        Comparison,
        Contract,
        Gated,
        Policy,
        Robustness,
        Slices,
        SystemComparison,
        compare,
        compare_systems,
        gate,
        intervals,
        traffic_thirds,
        with_companions,
    )
    from idealrank.verdict.slices import slices

_HOMES = {
    "Advice": "advice",
    "AssessorQrels": "data.assessors",
    "Attribution": "verdict",
    "Choice": "verdict",
    "Comparison": "verdict",
    "Contract": "verdict",
    "Convention": "conventions",
    "Coverage": "coverage",
    "DifferenceSplit": "reconciliation",
    "Evaluation": "evaluation",
    "Explanation": "explanation",
    "FileFormatError": "errors",
    "Gated": "verdict",
    "IdealrankError": "errors",
    "IdealrankWarning": "errors",
    "IncompatibleError": "errors",
    "InputError": "errors",
    "Judged": "data.judged",
    "Lists": "data.lists",
    "MEASURES": "measures",
    "Measure": "measures.measure",
    "MissingExtraError": "errors",
    "OptionError": "errors",
    "Overlap": "likeness",
    "PAIR_MEASURES": "measures",
    "PRESETS": "conventions",
    "PairwiseLoss": "measures.pairwise_loss",
    "PerQuery": "measures.measure",
    "Policy": "verdict",
    "PreferenceQrels": "data.preferences",
    "Qrels": "data.qrels",
    "Reconciliation": "reconciliation",
    "Robustness": "verdict",
    "Run": "data.run",
    "Slices": "verdict",
    "Store": "store",
    "SystemComparison": "verdict",
    "advise": "inquiry",
    "attribute": "inquiry",
    "choose": "settings",
    "compare": "verdict",
    "compare_systems": "verdict",
    "dcg": "api",
    "evaluate": "api",
    "explain": "inquiry",
    "gate": "verdict",
    "intervals": "verdict",
    "kendall": "agreement",
    "log_to_mlflow": "trackers",
    "log_to_wandb": "trackers",
    "measure": "measures.user",
    "ndcg": "api",
    "overlap": "inquiry",
    "pairwise_loss": "measures.pairwise_loss",
    "parse_measure": "measures.parse",
    "rank_dcg": "agreement",
    "read_assessors": "api",
    "read_categories": "io.by_query",
    "read_clusters": "io.by_query",
    "read_preferences": "api",
    "read_qrels": "api",
    "read_run": "api",
    "read_traffic": "io.by_query",
    "reconcile": "inquiry",
    "report": "reporting",
    "robust": "inquiry",
    "slices": "verdict.slices",
    "spearman": "agreement",
    "split_difference": "inquiry",
    "traffic_thirds": "verdict",
    "with_companions": "verdict",
}

__all__ = [
    "AP",
    "ARP",
    "AUC",
    "BPM",
    "DCG",
    "ERR",
    "GMAP",
    "GP",
    "INSQ",
    "INST",
    "LRAP",
    "MEASURES",
    "NDCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "OPA",
    "PAIR_MEASURES",
    "PRESETS",
    "PWA",
    "RBO",
    "RBP",
    "RNDCG",
    "RR",
    "SDCG",
    "TBG",
    "WSS",
    "YAAP",
    "APAvgJG",
    "Accuracy",
    "Advice",
    "AssessorQrels",
    "Attribution",
    "BinG",
    "Bpref",
    "Choice",
    "Comparison",
    "Compat",
    "Contract",
    "Convention",
    "Coverage",
    "CoverageError",
    "DifferenceSplit",
    "ElevenPointAP",
    "Evaluation",
    "Explanation",
    "F",
    "FileFormatError",
    "G",
    "GMBpref",
    "Gated",
    "GradeRho",
    "GradeTau",
    "GradeTauAP",
    "GradeWeightedTau",
    "IPrec",
    "IdealDCG",
    "IdealrankError",
    "IdealrankWarning",
    "IncompatibleError",
    "InfAP",
    "InputError",
    "Jaccard",
    "Judged",
    "JudgedShare",
    "KendallTau",
    "LastRel",
    "Lists",
    "Measure",
    "MissingExtraError",
    "NDCGRel",
    "NumNonrelJudgedRet",
    "NumPrefsFul",
    "NumPrefsPoss",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "OptionError",
    "Overlap",
    "OverlapAtK",
    "P",
    "PAvgJG",
    "PairwiseLoss",
    "PerQuery",
    "Policy",
    "PreferenceQrels",
    "PrefsAvgJG",
    "PrefsAvgJGRnonrel",
    "PrefsPair",
    "PrefsSimp",
    "Qrels",
    "R",
    "RankDCG",
    "RankingLoss",
    "RecallArea",
    "Reconciliation",
    "RelString",
    "RelativeP",
    "Robustness",
    "Rprec",
    "RprecAvgJG",
    "Run",
    "SameTop",
    "SetAP",
    "SetF",
    "SetP",
    "Slices",
    "Store",
    "Success",
    "SystemComparison",
    "TauAP",
    "Unjudged",
    "Utility",
    "WeightedTau",
    "__version__",
    "advise",
    "attribute",
    "choose",
    "compare",
    "compare_systems",
    "dcg",
    "evaluate",
    "explain",
    "gate",
    "intervals",
    "kendall",
    "log_to_mlflow",
    "log_to_wandb",
    "measure",
    "ndcg",
    "overlap",
    "pairwise_loss",
    "parse_measure",
    "rank_dcg",
    "read_assessors",
    "read_categories",
    "read_clusters",
    "read_preferences",
    "read_qrels",
    "read_run",
    "read_traffic",
    "reconcile",
    "report",
    "robust",
    "slices",
    "spearman",
    "split_difference",
    "stats",
    "theory",
    "traffic_thirds",
    "with_companions",
]


def __getattr__(name: str) -> Any:
    if name in {"stats", "theory"}:
        return import_module(f"idealrank.{name}")
    home = _HOMES.get(name) or import_module("idealrank.measures").CLASS_HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'idealrank' has no attribute {name!r}")
    value = getattr(import_module(f"idealrank.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
