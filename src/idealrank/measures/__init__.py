"""Measures: frozen values that turn a run joined to its judgments into one number per query.

`MEASURES` is the table of all of them; `parse_measure` reads their texts and other tools' spellings.
"""

from idealrank.measures.binary import AP, RR, P, R
from idealrank.measures.counts import NumQ, NumRel, NumRelRet, NumRet
from idealrank.measures.dcg import DCG, NDCG, IdealDCG
from idealrank.measures.measure import Measure

MEASURES: dict[str, type[Measure]] = {cls.name: cls for cls in (NDCG, DCG, IdealDCG, AP, RR, P, R, NumQ, NumRet, NumRel, NumRelRet)}
