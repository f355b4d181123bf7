"""Vectors without a neural network: latent semantic analysis (LSA), a truncated SVD of TF-IDF,
fitted to the documents themselves.

LSA knows which words occur together in these documents and nothing else; sentence embeddings are
far better. It needs only SciPy, so that every machine can make the same small vectors.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

WORD_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
DIMENSIONS = 128
FEWEST_DOCUMENTS = 2  # a word of one document says nothing about others


def pieces(text: str) -> list[str]:
    """Words in lower case, names such as `NamedTemporaryFile` or `copy_tree` taken apart.

    Examples
    --------
    >>> pieces("tempfile.NamedTemporaryFile")
    ['tempfile', 'named', 'temporary', 'file']
    """
    return [piece.lower() for piece in WORD_PIECES.findall(text)]


class LsaVectors:
    """LSA fitted to documents.

    Parameters
    ----------
    texts : sequence of str
        Texts of the documents.
    dimensions : int
        Numbers of a vector.

    Attributes
    ----------
    documents : float32 array, shape (documents, dimensions)
        Vectors of length 1; zeros for a text without a known word.

    Examples
    --------
    >>> lsa = LsaVectors(
    ...     ["open a file", "close a file", "parse a date", "format a date"], dimensions=2
    ... )
    >>> (lsa.documents * lsa.of(["date of a file"])).sum(1).round(2).tolist()  # doctest: +SKIP
    """

    def __init__(self, texts: Sequence[str], dimensions: int = DIMENSIONS) -> None:
        words = [pieces(text) for text in texts]
        frequencies = Counter(word for one in words for word in set(one))
        self._places = {
            word: place
            for place, word in enumerate(
                sorted(word for word, n in frequencies.items() if n >= FEWEST_DOCUMENTS)
            )
        }
        self._rarity = np.log(len(texts) / np.array([frequencies[word] for word in self._places]))
        matrix = self._weighted(words)
        start = np.full(min(matrix.shape), 1.0)  # fixed, so that every run makes the same vectors
        _, values, basis = scipy.sparse.linalg.svds(matrix, k=dimensions, v0=start)
        order = np.argsort(-values)
        basis = basis[order]
        signs = np.sign(basis[np.arange(len(basis)), np.abs(basis).argmax(1)])
        self._basis = (basis * signs[:, None]).T
        self.documents = self._projected(matrix)

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of other texts, such as queries."""
        return self._projected(self._weighted([pieces(text) for text in texts]))

    def _weighted(self, words: Sequence[Sequence[str]]) -> scipy.sparse.csr_matrix:
        rows, columns, values = [], [], []
        for row, one in enumerate(words):
            for word, count in Counter(word for word in one if word in self._places).items():
                rows.append(row)
                columns.append(self._places[word])
                values.append((1 + np.log(count)) * self._rarity[self._places[word]])
        return scipy.sparse.csr_matrix(
            (values, (rows, columns)), shape=(len(words), len(self._places))
        )

    def _projected(self, matrix: scipy.sparse.csr_matrix) -> np.ndarray:
        found = matrix @ self._basis
        lengths = np.sqrt((found**2).sum(1, keepdims=True))
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0).astype(
            np.float32
        )
