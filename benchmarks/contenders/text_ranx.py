"""ranx reads and evaluates TREC files: QRELS RUN."""

import json
import sys

from ranx import Qrels, Run, evaluate

MEASURES = {"nDCG@10": "ndcg@10", "nDCG": "ndcg", "AP": "map", "RR": "mrr"}

means = evaluate(
    Qrels.from_file(sys.argv[1], kind="trec"),
    Run.from_file(sys.argv[2], kind="trec"),
    list(MEASURES.values()),
)
print(json.dumps({name: float(means[theirs]) for name, theirs in MEASURES.items()}))
