"""Retrievers of LangChain, LlamaIndex and Haystack as backends: thin objects around the retriever
that an application uses.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from idealrank._keys import choice, key, text
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.json_paths import at_path
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.python_function import named_object
from idealrank.live.backends.shared import BackendKeys, keys_from, reason, vector_numbers


class Passage(NamedTuple):
    """Passage in the answer of a retriever."""

    id: str | None  # Id that the framework gives it
    # Its fields, of which one may be the id of the document in the judgments
    metadata: dict[str, Any]
    score: float | None = None  # Score, if the retriever has one


class Retriever:
    """Retriever of a framework."""

    def __init__(
        self,
        ask: Callable[[SearchQuery, int], Iterable[Passage]],
        *,
        id_path: str = "",
        name: str = "retriever",
    ) -> None:
        self.name = name
        self._ask = ask
        self._id_path = id_path

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Call the retriever; its exceptions become errors of the backend, temporary for
        connections and timeouts.
        """
        try:
            passages = list(self._ask(query, limit))
        except BackendError:
            raise
        except Exception as error:
            temporary = isinstance(error, (ConnectionError, TimeoutError))
            raise BackendError(
                f"{self.name}: {type(error).__name__}: {reason(error)}", temporary=temporary
            ) from error
        # of several passages of a document the first counts
        score_of: dict[Any, float | None] = {}
        for passage in passages:
            document = passage.id
            if self._id_path:
                document = at_path(passage.metadata, self._id_path)
            score_of.setdefault(document, passage.score)
        scores = None if None in score_of.values() else list(score_of.values())
        return ranked(self.name, list(score_of), scores, limit=limit)

    def close(self) -> None:
        """Do nothing: the application owns the retriever."""


def from_langchain(retriever: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a retriever of LangChain, which is asked by ``invoke``.

    The number of documents is an option of the retriever (``search_kwargs={"k": 100}``), and its
    documents have no scores.
    """

    def ask(query: SearchQuery, _limit: int) -> Iterable[Passage]:
        documents = retriever.invoke(query.text)
        return [Passage(document.id, document.metadata) for document in documents]

    return Retriever(ask, id_path=id_path, name="langchain")


def from_llama_index(retriever: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a retriever of LlamaIndex, which is asked by ``retrieve``.

    The number of nodes is an option of the retriever (``similarity_top_k``). The path
    ``ref_doc_id`` is the document of a node.
    """

    def ask(query: SearchQuery, _limit: int) -> Iterable[Passage]:
        nodes = retriever.retrieve(query.text)
        return [
            Passage(
                scored.node.node_id,
                {"ref_doc_id": scored.node.ref_doc_id, **scored.node.metadata},
                scored.score,
            )
            for scored in nodes
        ]

    return Retriever(ask, id_path=id_path, name="llama-index")


def from_haystack(component: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a component of Haystack whose ``run`` takes ``query`` or
    ``query_embedding`` and returns ``documents``.
    """
    takes = inspect.signature(component.run).parameters

    def ask(query: SearchQuery, limit: int) -> Iterable[Passage]:
        by_vector = "query" not in takes and "query_embedding" in takes
        arguments: dict[str, Any] = {}
        if by_vector:
            arguments["query_embedding"] = vector_numbers(query, "haystack")
        else:
            arguments["query"] = query.text
        if "top_k" in takes:
            arguments["top_k"] = limit
        documents = component.run(**arguments)["documents"]
        return [Passage(document.id, document.meta, document.score) for document in documents]

    return Retriever(ask, id_path=id_path, name="haystack")


class _Framework(NamedTuple):
    method: str  # that its retrievers have
    make: Callable[..., Retriever]


_FRAMEWORKS = {
    "langchain": _Framework("invoke", from_langchain),
    "llama-index": _Framework("retrieve", from_llama_index),
    "haystack": _Framework("run", from_haystack),
}


def _retriever(section: Section, name: str) -> Any:
    retriever = named_object(section, name, "retriever")
    has_method = any(hasattr(retriever, framework.method) for framework in _FRAMEWORKS.values())
    if callable(retriever) and (isinstance(retriever, type) or not has_method):
        try:
            retriever = retriever()
        except Exception as error:  # noqa: BLE001  (a function of the user may fail in any way)
            raise section.error(
                name, f"{type(error).__name__}: {error}", "a function that makes a retriever"
            ) from None
    return retriever


@dataclass(frozen=True, kw_only=True)
class RetrieverKeys(BackendKeys):
    """Keys of the kind ``retriever``."""

    retriever: Any = key(
        about="Retriever, as in module:retriever or file.py:retriever.",
        read=_retriever,
        schema=lambda: {"type": "string", "minLength": 1},
        expected="module:retriever, or file.py:retriever",
    )
    framework: str | None = choice(
        tuple(_FRAMEWORKS), "Framework of the retriever; default by the method that it has.", None
    )
    id: str = text("Field of the metadata with the id; default the id of the passage.", "")


SECTIONS = {"retriever": RetrieverKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(RetrieverKeys, section)
    if keys.framework is None:
        framework = _framework(keys.retriever)
    else:
        framework = _FRAMEWORKS[keys.framework]
    if not hasattr(keys.retriever, framework.method):
        methods = ", ".join(framework.method for framework in _FRAMEWORKS.values())
        raise section.error(
            "retriever",
            shown(repr(keys.retriever)),
            f"an object with one of the methods {methods}",
        )
    return framework.make(keys.retriever, id_path=keys.id)


def _framework(retriever: Any) -> _Framework:
    """First framework whose method a retriever has; LangChain if it has none of the methods."""
    suitable = (known for known in _FRAMEWORKS.values() if hasattr(retriever, known.method))
    return next(suitable, _FRAMEWORKS["langchain"])
