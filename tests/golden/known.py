"""Where a recorded value is not reproduced on purpose: each with its reason. Tests check that the
difference is still there.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """One difference.

    Attributes
    ----------
    peer : str
        As recorded.
    fixture : str
        Where it shows.
    reason : str
        Why the number is no target.
    call : str
        Part of the recorded call; empty for all calls of the peer.
    """

    peer: str
    fixture: str
    reason: str
    call: str = ""

    def covers(self, peer: str, call: str, fixture: str) -> bool:
        """True if a record is this difference."""
        return peer == self.peer and fixture == self.fixture and self.call in call


OVERFLOW = (
    "2^2000 is no float64: the peer goes on with inf or NaN, or dies; we name the grade and stop"
)
LABEL_LIMIT = (
    "the peer limits labels to the size of its gain table (31 by default); we have no limit"
)
CRASH = (
    "the peer dies where no judged grade is 0 or more; the value of the convention is that of no "
    "relevant document"
)
ENGINE_DUPLICATE = (
    "an engine never returns a document twice; what the record shows is an artefact of how it was "
    "called"
)
DIVIDES = "RRE divides by zero where only grade-0 documents are collected"
SUM_IS_ZERO = "the class calls a query empty when its labels add up to 0, negative ones included"

EXPONENTIAL = {
    "ranx": "ndcg_burges",
    "catboost": "type=Exp",
    "pytorch-ignite": "exp_rank",
    "pytorchltr2": "exp=True",
    "allrank": "ndcg",
    "rax": "ndcg",
    "keras-rs": "NDCG",
    "tensorflow-ranking": "NDCG",
    "quepid": "ndcg",
}
ENGINES = (
    "quepid",
    "elasticsearch rank_eval",
    "opensearch search-relevance",
    "rated-ranking-evaluator",
)
INT_GAINS = "trec_eval sorts gains by their difference cut to an int, so 3.5 and 3 count as equal"
MEAN_OF_NONE = "when every query is skipped the class says 0; a mean of nothing is no number"
PUT_LAST = (
    "on torch the masked document is put 1e-7 below the last, which is then moved 1e-6 down for "
    "its place"
)
SOURCE_CLIPS = (
    "written after the source, which clips ratings in a helper; the installed metric keeps them"
)

VALUES: tuple[Known, ...] = (
    *(Known(peer, "grade_2000", OVERFLOW, call) for peer, call in EXPONENTIAL.items()),
    *(Known("trec_eval", name, INT_GAINS, "ndcg.1=3.5") for name in ("basic", "unretrieved")),
    *(
        Known("torchmetrics", name, MEAN_OF_NONE, "'skip'")
        for name in ("all_zero", "only_unjudged")
    ),
    Known("torchmetrics", "negative", SUM_IS_ZERO, "empty_target_action"),
    Known("torchmetrics", "all_negative", SUM_IS_ZERO, "'pos'"),
    Known("torchmetrics", "all_negative", SUM_IS_ZERO, "'skip'"),
    Known("lenskit", "negative", SOURCE_CLIPS, "re-implemented"),
    Known("keras-rs", "padding-first", PUT_LAST),
    Known("rax", "infinite", "Rax takes a score of -inf for 'not ranked'; it is the lowest score"),
    Known(
        "rankereval",
        "dup_docid",
        "it knows places, not documents: both copies are in its ideal too",
    ),
    *(Known(peer, "dup_docid", ENGINE_DUPLICATE) for peer in ENGINES),
)

ERRORS: tuple[Known, ...] = (
    Known("trec_eval", "all_negative", CRASH),
    Known("ir_measures", "grade_30", "gdeval.pl knows grades up to 4"),
    Known("ir_measures", "grade_31", "gdeval.pl knows grades up to 4"),
    Known(
        "ranx",
        "extra_query",
        "ranx refuses queries without judgments; here they are left out, as the coverage says",
    ),
    Known(
        "scikit-learn",
        "inf_score",
        "scikit-learn refuses infinite scores; they have an order, so we rank them",
    ),
    Known("scikit-learn", "single", "scikit-learn refuses lists of one document; their NDCG is 1"),
    Known(
        "scikit-learn",
        "single_irrel",
        "scikit-learn refuses lists of one document; without a relevant one their NDCG is 0",
    ),
    Known("lightgbm", "grade_31", LABEL_LIMIT),
    Known("lightgbm", "grade_2000", LABEL_LIMIT, "label_gain=0,1,2"),
    Known(
        "pytorch-ignite",
        "all_zero",
        "ignite raises when every query is skipped; here no query counts, and the mean is NaN",
    ),
    *(
        Known("rated-ranking-evaluator", name, DIVIDES)
        for name in ("all_zero", "all_zero_and_good", "single_irrel", "extra_query")
    ),
    *(
        Known("pyNTCIREVAL", name, "an IndexError of the peer where no document is relevant")
        for name in ("all_zero", "all_zero_and_good")
    ),
)
"""The peer raises or dies and we give a value."""
