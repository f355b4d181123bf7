"""Prompts of judges: files of the user with fields, filled in one pass, so that nothing in a document is taken for a field."""

import re
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path

from idealrank.errors import InputError, OptionError
from idealrank.io.judgment_pairs import JudgmentPair
from idealrank.live.judges.protocol import Scale

_FIELD = re.compile(r"\{(query|query_id|document|title|text|link|scale|grades)\}")


@dataclass(frozen=True)
class Prompt:
    """Text with the fields ``{query}``, ``{title}``, ``{text}``, ``{link}``, ``{query_id}``, ``{document}``, ``{scale}``, ``{grades}``.

    Attributes
    ----------
    text : str
        The prompt.
    path : str
        Where it comes from.

    Examples
    --------
    >>> from idealrank.io.texts import DocumentText
    >>> pair = JudgmentPair("q1", "d1", "sort {text}", DocumentText("sorted", "Return a list"))
    >>> Prompt('{query}: {title} {text} {"grade": 1}').filled(pair, Scale.of("0,1"))
    'sort {text}: sorted Return a list {"grade": 1}'
    """

    text: str
    path: str = "prompt"

    @classmethod
    def read(cls, path: str | None, *, is_for_pairs: bool = True) -> "Prompt":
        """Read a file; the plain prompt of this package without one.

        Raises
        ------
        InputError
            The file cannot be read.
        OptionError
            The prompt shows the judge no query, or nothing of the document.
        """
        if path is None:
            shipped = resources.files("idealrank.live.judges").joinpath("prompts", "plain.txt").read_text(encoding="utf-8")
            return cls(shipped, "plain")
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}; expected a prompt") from None
        except ValueError:
            raise InputError(f"{path}: found bytes that are no UTF-8, expected text; save it as UTF-8") from None
        fields = set(_FIELD.findall(text))
        if is_for_pairs and not ("query" in fields and fields & {"text", "title"}):
            lacking = "{query}" if "query" not in fields else "{text} or {title}"
            raise OptionError(f"{path}: found no field {lacking}, expected a prompt that shows the query and the document")
        return cls(text, path)

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def filled(self, pair: JudgmentPair, scale: Scale, most: int | None = None) -> str:
        """Fill all fields; of the text of the document, `most` letters at most."""
        content = pair.content
        values = {
            "query": pair.query_text, "query_id": pair.query, "document": pair.document, "title": content.title,
            "text": content.text[:most], "link": content.link, "scale": scale.text, "grades": scale.lines,
        }  # fmt: skip
        return _FIELD.sub(lambda found: values[found[1]], self.text)
