"""Texts of queries and documents on served pages: read when a page shows their ids, and kept."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable

from idealrank.inputs.text_sources import TextSources
from idealrank.io.complaints import Tell

_MOST_KEPT = 50_000  # texts of each kind; the one that was not shown for longest goes first
_Read = Callable[[Collection[str], Tell], dict[str, str]]


class _KeptTexts:
    """Texts that were read before, by id; an id without a text is kept as well, so that no file is
    searched for it again.
    """

    def __init__(self, read: _Read, most: int) -> None:
        self._read = read
        self._most = most
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def of(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(dict.fromkeys(ids))
        with self._lock:
            missing = [name for name in wanted if name not in self._texts]
            if missing:
                # Which ids have no text is no news in the terminal of a server.
                read = self._read(missing, lambda _: None)
                self._texts |= {name: read.get(name, "") for name in missing}
            for name in wanted:
                self._texts.move_to_end(name)
            texts = {name: self._texts[name] for name in wanted if self._texts[name]}
            while len(self._texts) > self._most:
                self._texts.popitem(last=False)
        return texts


class ServedTexts:
    """Texts by id for pages, from files that may be too large to be kept in memory."""

    def __init__(self, sources: TextSources, most: int = _MOST_KEPT) -> None:
        self.has_queries = sources.queries is not None
        self._queries = _KeptTexts(sources.of_queries, most)
        self._documents = _KeptTexts(sources.of_documents, most)

    def of_queries(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of queries."""
        return self._queries.of(ids)

    def of_documents(self, ids: Iterable[str]) -> dict[str, str]:
        """Return titles and texts of documents."""
        return self._documents.of(ids)
