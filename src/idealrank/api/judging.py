"""Judgments and judges for paths, mappings and dataframes."""

from collections.abc import Mapping

from idealrank.api.evaluation import AnyTable, to_qrels
from idealrank.io.formats.preferences import read_assessors
from idealrank.judging import LabelTable


def read_labels(source: "AnyTable | Mapping[str, AnyTable]") -> LabelTable:
    """Read the grades of several raters, joined by query and document.

    Parameters
    ----------
    source : path, or mapping of str to path, mapping, dataframe or Qrels
        One file with several assessors (lines ``QUERY ASSESSOR DOCUMENT GRADE``, or Quepid's export of a book); or judgments by the name
        of their rater.

    Examples
    --------
    >>> read_labels({"ann": {"q": {"a": 1}}, "ben": {"q": {"a": 2}}}).grades.tolist()
    [[1.0, 2.0]]
    """
    if isinstance(source, Mapping):
        return LabelTable.of({name: to_qrels(one) for name, one in source.items()})
    return LabelTable.of(read_assessors(source))
