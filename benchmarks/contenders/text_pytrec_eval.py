"""pytrec_eval reads and evaluates TREC files: QRELS RUN."""

import json
import math
import sys
from pathlib import Path

import pytrec_eval

MEASURES = {"nDCG@10": "ndcg_cut_10", "nDCG": "ndcg", "AP": "map", "RR": "recip_rank"}

with Path(sys.argv[1]).open() as file:
    qrels = pytrec_eval.parse_qrel(file)
with Path(sys.argv[2]).open() as file:
    run = pytrec_eval.parse_run(file)
values = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values())).evaluate(run).values()
print(json.dumps({name: math.fsum(value[theirs] for value in values) / len(values) for name, theirs in MEASURES.items()}))
