"""Retrievers of LangChain, LlamaIndex and Haystack as backends: thin objects around the retriever
that an application uses.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.live.backends.http_endpoint import at_path
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.python_function import named_object
from idealrank.live.backends.shared import reason, vector_numbers


class Passage(NamedTuple):
    """Item of a retriever's answer."""

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
        first: dict[Any, float | None] = {}
        for passage in passages:
            first.setdefault(
                at_path(passage.metadata, self._id_path) if self._id_path else passage.id,
                passage.score,
            )
        scores = None if None in first.values() else list(first.values())
        return ranked(self.name, list(first), scores, limit=limit)

    def close(self) -> None:
        """Do nothing: the application owns the retriever."""


def from_langchain(retriever: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a retriever of LangChain, which is asked by ``invoke``.

    The number of documents is an option of the retriever (``search_kwargs={"k": 100}``), and its
    documents have no scores.
    """

    def ask(query: SearchQuery, _limit: int) -> Iterable[Passage]:
        return [Passage(one.id, one.metadata) for one in retriever.invoke(query.text)]

    return Retriever(ask, id_path=id_path, name="langchain")


def from_llama_index(retriever: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a retriever of LlamaIndex, which is asked by ``retrieve``.

    The number of nodes is an option of the retriever (``similarity_top_k``). The path
    ``ref_doc_id`` is the document of a node.
    """

    def ask(query: SearchQuery, _limit: int) -> Iterable[Passage]:
        found = retriever.retrieve(query.text)
        return [
            Passage(
                one.node.node_id,
                {"ref_doc_id": one.node.ref_doc_id, **one.node.metadata},
                one.score,
            )
            for one in found
        ]

    return Retriever(ask, id_path=id_path, name="llama-index")


def from_haystack(component: Any, *, id_path: str = "") -> Retriever:
    """Make a backend of a component of Haystack whose ``run`` takes ``query`` or
    ``query_embedding`` and returns ``documents``.
    """
    takes = inspect.signature(component.run).parameters

    def ask(query: SearchQuery, limit: int) -> Iterable[Passage]:
        by_vector = "query" not in takes and "query_embedding" in takes
        asked: dict[str, Any] = (
            {"query_embedding": vector_numbers(query, "haystack")}
            if by_vector
            else {"query": query.text}
        )
        if "top_k" in takes:
            asked["top_k"] = limit
        return [Passage(one.id, one.meta, one.score) for one in component.run(**asked)["documents"]]

    return Retriever(ask, id_path=id_path, name="haystack")


_FRAMEWORKS: dict[str, tuple[str, Callable[..., Retriever]]] = {
    "langchain": ("invoke", from_langchain),
    "llama-index": ("retrieve", from_llama_index),
    "haystack": ("run", from_haystack),
}


def from_section(section: Section) -> Backend:
    """Make the backend of a section with the kind ``retriever``: ``retriever``, ``framework``,
    ``id``.
    """
    section.refuse_unknown("kind", "retriever", "framework", "id", "timeout")
    found = named_object(section, "retriever", "retriever")
    methods = [method for method, _ in _FRAMEWORKS.values()]
    if callable(found) and (
        isinstance(found, type) or not any(hasattr(found, method) for method in methods)
    ):
        try:
            found = found()
        except Exception as error:  # noqa: BLE001  (a function of the user may fail in any way)
            raise section.error(
                "retriever", f"{type(error).__name__}: {error}", "a function that makes a retriever"
            ) from None
    framework = (
        section.choice("framework", tuple(_FRAMEWORKS))
        if section.has("framework")
        else _framework(found)
    )
    if framework is None or not hasattr(found, _FRAMEWORKS[framework][0]):
        raise section.error(
            "retriever",
            shown(repr(found)),
            f"an object with one of the methods {', '.join(methods)}",
        )
    return _FRAMEWORKS[framework][1](found, id_path=section.text("id", "") or "")


def _framework(found: Any) -> str | None:
    return next((name for name, (method, _) in _FRAMEWORKS.items() if hasattr(found, method)), None)
