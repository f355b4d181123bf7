"""pytrec_eval reads and evaluates TREC files: QRELS RUN [all]; prints means as JSON, with ``all``
those of all_trec by its names.
"""

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
everything = sys.argv[3:] == ["all"]
asked = {"all_trec"} if everything else set(MEASURES.values())
values = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run).values()
names = {name: name for name in next(iter(values))} if everything else MEASURES
print(
    json.dumps(
        {
            name: math.fsum(value[theirs] for value in values) / len(values)
            for name, theirs in names.items()
        }
    )
)
