"""Documents that may count, in any form: those that are excluded or permitted, and candidates."""

from itertools import chain
from typing import Any

from idealrank.data.candidates import Candidates
from idealrank.data.eligibility import Breach, DocumentTable, Eligibility
from idealrank.data.join import Judgments
from idealrank.data.qrels import Qrels
from idealrank.errors import InputError, OptionError
from idealrank.io.sources import InputFile


def restricted(
    judgments: Judgments, exclude: Any, permitted: Any, breach: Breach
) -> tuple[Judgments, tuple[InputFile, ...]]:
    """The judgments without what may not count, and the files that say so."""
    if exclude is None and permitted is None:
        return judgments, ()
    if not isinstance(judgments, Qrels):
        raise InputError(
            f"exclude, permitted: found {type(judgments).__name__}, expected grades of documents"
        )
    from idealrank.io.document_sets import read_document_sets  # noqa: PLC0415  (few runs have them)

    sources = {"exclude": exclude, "permitted": permitted}
    sets = {
        what: read_document_sets(source, what=what)
        for what, source in sources.items()
        if source is not None
    }
    tables = {
        what: DocumentTable(documents.by_query, documents.shared)
        for what, documents in sets.items()
    }
    eligibility = Eligibility(
        excluded=tables.get("exclude"), permitted=tables.get("permitted"), breach=breach
    )
    files = chain.from_iterable(documents.inputs for documents in sets.values())
    return judgments.restricted(eligibility), tuple(files)


def candidates_of(source: Any, *, is_restricted: bool) -> Candidates | None:
    """Candidates in any form; None where there are none."""
    if source is None:
        return None
    if is_restricted:
        raise OptionError(
            "candidates: found exclude or permitted too, expected one of them: chance levels count "
            "every candidate, so take what may not count out of candidates and run first"
        )
    from idealrank.io.document_sets import read_candidates  # noqa: PLC0415  (few runs have candidates)

    return read_candidates(source)
