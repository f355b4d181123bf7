"""Which convention reproduces which call of which peer: presets, and presets with a switch changed
for a call's options.
"""

from dataclasses import dataclass

EXACT = 1e-12
FLOAT32 = 3e-6  # peers that sum in float32


@dataclass(frozen=True)
class Target:
    """One call of one peer.

    Attributes
    ----------
    peer, call : str
        As recorded; a `call` that ends in ``*`` is a prefix.
    convention : str
        What reproduces it.
    tolerance : float
        Greatest difference allowed, relative to values above 1.
    arrays : bool
        The peer gets labels and scores of the returned documents, and knows no others.
    measure : str
        With ``{k}`` for ``@cutoff`` or nothing.
    version : str
        Of the peer, where versions differ.
    """

    peer: str
    call: str
    convention: str
    tolerance: float = EXACT
    arrays: bool = False
    measure: str = "nDCG{k}"
    version: str = ""

    def matches(self, peer: str, version: str, call: str) -> bool:
        """True if a recorded call is this one."""
        same_call = (
            call.startswith(self.call[:-1]) if self.call.endswith("*") else call == self.call
        )
        return peer == self.peer and same_call and self.version in ("", version)

    def measure_at(self, cutoff: int | None) -> str:
        """The measure's text at a cutoff."""
        return self.measure.replace("{k}", "" if cutoff is None else f"@{cutoff}")


def _trec(version: str, preset: str, missing: str) -> list[Target]:
    """Calls of trec_eval; what it does with a judged query that the run lacks (without -c) differs
    between versions.
    """
    plain = f"{preset},missing={missing}"
    options = {
        "": plain,
        " -c": f"{preset},missing=zero",
        # trec_eval takes negative grades for unjudged, so -J removes those documents too.
        " -J": f"{plain},unjudged=skipped,negative=removed",
    }
    gains = {
        "-m ndcg.1=1,2=3,3=7": "{0:0,1:1,2:3,3:7}",
        "-m ndcg.1=3.5,2=9.0": "{0:0,1:3.5,2:9,3:3}",
    }
    targets = [
        Target("trec_eval", call + option, name, version=version)
        for option, name in options.items()
        for call in ("ndcg", "ndcg_cut")
    ]
    return targets + [
        Target("trec_eval", call, plain, version=version, measure=f"nDCG(gain={gain})")
        for call, gain in gains.items()
    ]


TARGETS: tuple[Target, ...] = (
    *_trec("9.0.8", "trec_eval-9", "left-out"),
    *_trec("10.0", "trec_eval-10", "error"),
    Target("trec_eval", "-m dcg", "trec_eval-10", version="10.0", measure="DCG"),
    Target("trec_eval", "-m ideal_dcg", "trec_eval-10", version="10.0", measure="iDCG"),
    Target("pytrec_eval-terrier", "RelevanceEvaluator ndcg*", "trec_eval-9,duplicates=last"),
    Target(
        "pytrec_eval-terrier",
        "ndcg judged_docs_only_flag",
        "trec_eval-9,duplicates=last,unjudged=skipped,negative=removed",
    ),
    Target("pytrec_eval-terrier", "ndcg relevance_level=2", "trec_eval-9"),
    Target("ir_measures", "nDCG", "ir_measures"),
    Target("ir_measures", "nDCG@k", "ir_measures"),
    Target("ir_measures", "nDCG@2", "ir_measures", measure="nDCG@2"),
    Target("ir_measures", "pytrec_eval.calc nDCG@5", "ir_measures"),
    Target(
        "ir_measures", "nDCG(judged_only=True)", "ir_measures,unjudged=skipped,negative=removed"
    ),
    Target("ir_measures", "nDCG on namedtuple iterable", "ir_measures"),
    Target(
        "ir_measures",
        "nDCG(gains={0:0,1:1,2:3,3:7})",
        "ir_measures",
        measure="nDCG(gain={0:0,1:1,2:3,3:7}){k}",
    ),
    Target("ir_measures", "nDCG(dcg='exp-log2')@k", "gdeval"),
    Target("ir_measures", "nDCG(dcg='exp-log2')@2", "gdeval", measure="nDCG@2"),
    Target("ir_measures", "gdeval.calc nDCG(dcg='exp-log2')@5", "gdeval"),
    Target("ir_measures", "P@1", "ir_measures", measure="P@1"),
    Target("ir_measures", "P@2", "ir_measures", measure="P@2"),
    Target("ir_measures", "RR", "ir_measures", measure="RR"),
    Target("ir_measures", "AP", "ir_measures", measure="AP"),
    Target("ir_measures", "AP@2", "ir_measures", measure="AP@2"),
    Target("ranx", "evaluate(Qrels,Run,'ndcg')", "ranx"),
    Target("ranx", "evaluate(Qrels,Run,'ndcg_burges')", "ranx-burges"),
    Target("ranx", "evaluate(...,make_comparable=True)", "ranx,missing=zero"),
    Target("ranx", "ndcg-l2", "ranx", measure="nDCG(rel=2){k}"),
    Target("ranx", "ndcg@3-l2", "ranx", measure="nDCG(rel=2)@3"),
    Target("ranx", "ndcg-l0", "ranx"),
    Target("scikit-learn", "ndcg_score(ignore_ties=False)", "sklearn", arrays=True),
    Target("scikit-learn", "dcg_score(log_base=2)", "sklearn", arrays=True, measure="DCG"),
    Target(
        "scikit-learn",
        "dcg_score(log_base=10)",
        "sklearn",
        arrays=True,
        measure="DCG(discount=log(10))",
    ),
    Target(
        "scikit-learn",
        "dcg_score negative labels",
        "sklearn,negative=kept",
        arrays=True,
        measure="DCG",
    ),
    Target("lightgbm", "label_gain 0..2001 for grade 2000", "lightgbm,gain=linear", arrays=True),
    Target("lightgbm", "metric=ndcg default label_gain", "lightgbm", arrays=True),
    Target("lightgbm", "metric=ndcg label_gain=0,1,2,..", "lightgbm,gain=linear", arrays=True),
    Target("xgboost", "eval_metric=ndcg[@k], ndcg_exp_gain=True", "xgboost", arrays=True),
    Target("xgboost", "eval_metric=ndcg[@k], ndcg_exp_gain=False", "xgboost-linear", arrays=True),
    Target("xgboost", "eval_metric=ndcg[@k]-, ndcg_exp_gain=True", "xgboost-minus", arrays=True),
    Target(
        "xgboost",
        "eval_metric=ndcg[@k]-, ndcg_exp_gain=False",
        "xgboost-linear,no_relevant=zero",
        arrays=True,
    ),
    Target(
        "xgboost",
        "objective=reg:squarederror eval_metric=ndcg ndcg_exp_gain=True",
        "xgboost",
        arrays=True,
    ),
    Target(
        "xgboost",
        "objective=rank:pairwise eval_metric=ndcg ndcg_exp_gain=True",
        "xgboost",
        arrays=True,
    ),
    Target(
        "xgboost",
        "objective=reg:squarederror eval_metric=ndcg ndcg_exp_gain=False",
        "xgboost-linear",
        arrays=True,
    ),
    Target(
        "xgboost",
        "objective=rank:pairwise eval_metric=ndcg ndcg_exp_gain=False",
        "xgboost-linear",
        arrays=True,
    ),
    Target("catboost", "NDCG:type=Base;denominator=LogPosition*", "catboost", arrays=True),
    Target(
        "catboost",
        "NDCG:type=Base;denominator=Position*",
        "catboost,discount=reciprocal",
        arrays=True,
    ),
    Target("catboost", "NDCG:type=Exp;denominator=LogPosition*", "catboost-exp", arrays=True),
    Target(
        "catboost",
        "NDCG:type=Exp;denominator=Position*",
        "catboost-exp,discount=reciprocal",
        arrays=True,
    ),
    Target("catboost", "NDCG", "catboost", arrays=True),
    Target("catboost", "NDCG:type=Base", "catboost", arrays=True),
    Target("catboost", "NDCG:top=3", "catboost", arrays=True, measure="nDCG@3"),
    Target("catboost", "DCG", "catboost", arrays=True, measure="DCG"),
    Target("catboost", "DCG:type=Exp", "catboost-exp", arrays=True, measure="DCG"),
    Target(
        "torchmetrics", "functional.retrieval_normalized_dcg", "torchmetrics", FLOAT32, arrays=True
    ),
    Target(
        "torchmetrics",
        "RetrievalNormalizedDCG(empty_target_action='neg')",
        "torchmetrics",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "torchmetrics",
        "RetrievalNormalizedDCG(empty_target_action='pos')",
        "torchmetrics,no_relevant=one",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "torchmetrics",
        "RetrievalNormalizedDCG(empty_target_action='skip')",
        "torchmetrics,no_relevant=left-out",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "pytorch-ignite",
        "NDCG(gain_function='exp_rank',ignore_zero_hits=False)",
        "ignite",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "pytorch-ignite",
        "NDCG(gain_function='linear_rank',ignore_zero_hits=False)",
        "ignite,gain=linear",
        FLOAT32,
        arrays=True,
    ),
    Target("pytorch-ignite", "NDCG(ignore_zero_hits=False)", "ignite", FLOAT32, arrays=True),
    Target(
        "pytorch-ignite",
        "NDCG(ignore_zero_hits=True)",
        "ignite,no_relevant=left-out",
        FLOAT32,
        arrays=True,
    ),
    Target("pytorchltr2", "evaluation.ndcg(exp=True)", "rax", FLOAT32, arrays=True),
    Target("pytorchltr2", "evaluation.ndcg(exp=False)", "rax,gain=linear", FLOAT32, arrays=True),
    Target("allrank", "models.metrics.ndcg default gain 2^x-1", "allrank", FLOAT32, arrays=True),
    Target("allrank", "ndcg(filler_value=0)", "allrank,no_relevant=zero", FLOAT32, arrays=True),
    Target("rax", "ndcg_metric default gain 2^y-1", "rax", FLOAT32, arrays=True),
    Target(
        "keras-rs",
        "metrics.NDCG(shuffle_ties=False) torch backend",
        "keras-rs",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "tensorflow-ranking",
        "keras.metrics.NDCGMetric per list",
        "tf-ranking",
        FLOAT32,
        arrays=True,
    ),
    Target(
        "tensorflow-ranking",
        "keras.metrics.NDCGMetric batch, padding -1",
        "tf-ranking",
        FLOAT32,
        arrays=True,
    ),
    Target("pyltr", "NDCG(gain_type='exp2') caller sorts", "pyltr", arrays=True),
    Target("pyltr", "NDCG(gain_type='identity') caller sorts", "pyltr,gain=linear", arrays=True),
    Target("lenskit", "NDCG(gain='rating') default LogRankWeight*", "lenskit"),
    Target("lenskit", "NDCG(n=k)", "lenskit,gain=binary"),
    Target("lenskit", "Recall(n=k)", "lenskit", measure="RelP{k}"),
    Target("rectools", "NDCG(k)", "rectools"),
    Target("rectools", "NDCG(k, divide_by_achievable=True)", "rectools-ideal"),
    Target("rectools", "MAP(k)", "rectools", measure="AP{k}"),
    Target("rectools", "Recall(k)", "rectools", measure="R{k}"),
    Target("rectools", "Precision(k, r_precision=True)", "rectools", measure="RelP{k}"),
    Target("implicit", "ranking_metrics_at_k ndcg", "implicit"),
    Target("implicit", "ranking_metrics_at_k map", "implicit", measure="AP(divisor=reachable){k}"),
    Target("trectools", "get_ndcg(trec_eval=True)", "trectools"),
    Target("trectools", "get_ndcg(trec_eval=False)", "trectools,gain=exp2"),
    Target("elasticsearch rank_eval", "dcg normalize=true*", "elasticsearch"),
    Target("opensearch search-relevance", "NDCG@k*", "opensearch"),
    Target("rated-ranking-evaluator", "NDCGAtK*", "rre"),
    Target("quepid", "db/scorers/ndcg@10.js*", "quepid"),
    Target("quepid", "db/scorers/ndcg_cut@10.js*", "quepid-cut"),
    Target("pyNTCIREVAL", "nDCG (original J&K), log base 2", "jarvelin-2002"),
    Target(
        "pyNTCIREVAL", "nDCG (original J&K), log base 10", "jarvelin-2002,discount=jarvelin(10)"
    ),
    Target("pyNTCIREVAL", "MSnDCG", "jarvelin-2002,discount=log2"),
    *(
        Target(peer, call, preset, arrays=True, measure=measure)
        for peer, preset, rel in (
            ("LETOR Eval-Score-4.0.pl", "letor", ""),
            # Its precision counts labels of 2 or more.
            ("MSLR eval-score-mslr.pl", "mslr", "(rel=2)"),
        )
        for call, measure in (
            ("NDCG@k", "nDCG{k}"),
            ("MeanNDCG", "MeanNDCG"),
            ("P@k", f"P{rel}{{k}}"),
            ("MAP", f"AP{rel}"),
        )
    ),
    Target("rankkit", "ndcg(gain='exp')", "rankkit"),
    Target("rankkit", "ndcg(gain='linear')", "rankkit,gain=linear"),
    Target(
        "cute-ranking (bwhite gist)",
        "ndcg_at_k(method=0)",
        "pyltr,gain=linear,discount=jarvelin(2)",
        arrays=True,
    ),
    Target("cute-ranking (bwhite gist)", "ndcg_at_k(method=1)", "pyltr,gain=linear", arrays=True),
    # Tools without a preset of their own, put in words of the switches.
    Target(
        "ranklab",
        "ndcg (caller sorts)",
        "ranx,missing=left-out,without_judgments=evaluated,negative=error",
    ),
    Target("toolkit-rag-quality", "score_run", "standard,ties=input,duplicates=first"),
    Target(
        "rankereval",
        "NDCG(relevance_scaling='identity')",
        "standard,ties=input,negative=kept,no_relevant=nan,duplicates=twice,without_judgments=evaluated",
    ),
)
