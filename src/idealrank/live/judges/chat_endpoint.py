"""Prompts, and language models behind an address with OpenAI's interface of chat completions, such
as vLLM, Ollama and llama.cpp.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from idealrank._keys import entries, file_to_read, flag, text, text_value, whole
from idealrank._keys import key as declared
from idealrank._sections import Section
from idealrank.errors import BackendError, InputError, OptionError, shown
from idealrank.io.judgment_files import assessor_text
from idealrank.io.sources import refusal_text
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.http_requests import HttpAnswer, exchange, http_client
from idealrank.live.judges.judge_answers import (
    MOST_TOKENS,
    JudgeAnswer,
    JudgeKeys,
    Scale,
    answer_of,
    answer_of_text,
)

_FIELD = re.compile(r"\{(query|query_id|document|title|text|link|scale|grades)\}")
_MOST = 1 << 24  # bytes of an answer
_CANDIDATES = 20  # tokens whose probabilities are asked for


@dataclass(frozen=True)
class Prompt:
    """Text with the fields ``{query}``, ``{title}``, ``{text}``, ``{link}``, ``{query_id}``,
    ``{document}``, ``{scale}``, ``{grades}``.
    """

    text: str  # The prompt
    path: str = "prompt"  # Where it comes from

    @classmethod
    def read(cls, path: str | None, *, is_for_pairs: bool = True) -> "Prompt":
        """Read a file; the plain prompt of this package without one."""
        if path is None:
            shipped = (
                resources.files("idealrank.live.judges")
                .joinpath("prompts", "plain.txt")
                .read_text(encoding="utf-8")
            )
            return cls(shipped, "plain")
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(refusal_text(path, error)) from None
        except ValueError:
            raise InputError(
                f"{path}: found bytes that are no UTF-8, expected text; save it as UTF-8"
            ) from None
        fields = set(_FIELD.findall(text))
        if is_for_pairs and not ("query" in fields and fields & {"text", "title"}):
            lacking = "{query}" if "query" not in fields else "{text} or {title}"
            raise OptionError(
                f"{path}: found no field {lacking}, expected a prompt that shows the query and the "
                "document"
            )
        return cls(text, path)

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def filled(self, pair: JudgmentPair, scale: Scale, most: int | None = None) -> str:
        """Fill all fields; of the text of the document, `most` letters at most."""
        content = pair.content
        values = {
            "query": pair.query_text,
            "query_id": pair.query,
            "document": pair.document,
            "title": content.title,
            "text": content.text[:most],
            "link": content.link,
            "scale": scale.text,
            "grades": scale.lines,
        }
        return _FIELD.sub(lambda match: values[match[1]], self.text)


class ChatJudge:
    """Model that is asked over HTTP."""

    kind = "model"

    def __init__(
        self,
        url: str,
        model: str,
        prompt: Prompt,
        scale: Scale,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        system: Prompt | None = None,
        params: Mapping[str, Any] | None = None,
        probabilities: bool = False,
        pattern: "re.Pattern[str] | None" = None,
        name: str = "",
        version: str = "",
        most_letters: int | None = None,
        timeout: float = 60.0,
        client: Any = None,
    ) -> None:
        self.name = assessor_text(name or model)
        self._url = url.rstrip("/")
        self._model = model
        self._prompt = prompt
        self._scale = scale
        self._system = system
        self._params = dict(params or {})
        self._probabilities = probabilities
        self._pattern = pattern
        self._most = most_letters
        given_headers = {name.lower(): value.encode() for name, value in (headers or {}).items()}
        bearer = {"authorization": f"Bearer {key}".encode()} if key else {}
        self._headers = {
            "content-type": b"application/json",
            "accept": b"application/json",
            **bearer,
            **given_headers,
        }
        self._client = client or http_client("a judge over HTTP", "search", timeout=timeout)
        self.identity: Mapping[str, Any] = {
            "url": _address(url),
            "model": model,
            "prompt": prompt.digest,
            "system": None if system is None else system.digest,
            "params": self._params,
            "probabilities": probabilities,
            "pattern": None if pattern is None else pattern.pattern,
            "most_letters": most_letters,
            "version": version,
        }

    def body(self, pair: JudgmentPair, repeat: int) -> dict[str, Any]:
        """Return the request for a pair; repetitions get the seeds that follow a seed of
        `params`.
        """
        messages = []
        if self._system is not None:
            system = self._system.filled(pair, self._scale, self._most)
            messages.append({"role": "system", "content": system})
        prompt = self._prompt.filled(pair, self._scale, self._most)
        messages.append({"role": "user", "content": prompt})
        body = {"model": self._model, "messages": messages, **self._params}
        if isinstance(self._params.get("seed"), int):
            body["seed"] = self._params["seed"] + repeat - 1
        if self._probabilities:
            body = {"logprobs": True, "top_logprobs": _CANDIDATES, **body}
        return body

    def ask(self, pair: JudgmentPair, repeat: int) -> JudgeAnswer:
        """Send the prompt, and read the grade in the answer."""
        content = json.dumps(self.body(pair, repeat)).encode()
        answer = exchange(
            self._client,
            self.name,
            "POST",
            f"{self._url}/chat/completions",
            most=_MOST,
            headers=self._headers,
            content=content,
        )
        return self._read(self._checked(answer))

    def _checked(self, answer: HttpAnswer) -> dict[str, Any]:
        if answer.status != 200:
            text = shown(" ".join(answer.text.split()))
            message = (
                f"{self.name}: found status {answer.status}{f' ({text})' if text else ''}, "
                "expected 200"
            )
            raise BackendError(
                message,
                temporary=answer.is_temporary,
                outage=answer.is_outage,
                retry_after=answer.retry_after,
            )
        try:
            value = answer.json()
        except (ValueError, RecursionError):
            text = f"{self.name}: found {shown(repr(answer.text))}, expected JSON"
            # the service took the request
            raise BackendError(text, temporary=True, outage=False) from None
        if not isinstance(value, dict):
            raise BackendError(
                f"{self.name}: found {shown(json.dumps(value))}, expected an object with choices"
            )
        return value

    def _read(self, answer: Mapping[str, Any]) -> JudgeAnswer:
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise BackendError(
                f"{self.name}: found {shown(json.dumps(answer))}, expected choices with a message"
            ) from None
        usage = answer.get("usage")
        model = answer.get("model")
        details: dict[str, Any] = {
            "input_tokens": _token_count(usage, "prompt_tokens"),
            "output_tokens": _token_count(usage, "completion_tokens"),
            "model": model if isinstance(model, str) else "",
        }
        if not isinstance(text, str):
            refused = choice["message"].get("refusal")
            why = f"a refusal ({shown(refused)})" if isinstance(refused, str) else "no text"
            return JudgeAnswer(
                grade=None,
                unreadable=f"found {why}, expected a grade of {self._scale.text}",
                **details,
            )
        if not self._probabilities:
            return answer_of_text(text, self._scale, self._pattern, **details)
        chances = _chances(choice.get("logprobs"), self._scale)
        if chances is not None:
            return answer_of(chances, self._scale, text=text, **details)
        unreadable = (
            "found no probabilities of a token that is a grade, expected logprobs.content with "
            "top_logprobs"
        )
        return JudgeAnswer(grade=None, unreadable=unreadable, text=text, **details)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _token_count(usage: Any, key: str) -> int | None:
    """Number of tokens that a service reports; None for a count that it cannot be."""
    count = usage.get(key) if isinstance(usage, dict) else None
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if 0 <= count <= MOST_TOKENS else None


def _chances(logprobs: Any, scale: Scale) -> dict[float, float] | None:
    """Probabilities of the grades at the first token that is a grade; None without such a token."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, dict) or _grade(token.get("token"), scale) is None:
            continue
        chances = dict.fromkeys(scale.grades, 0.0)
        tops = token.get("top_logprobs")
        candidates = tops if isinstance(tops, list) and tops else [token]
        for candidate in candidates:
            if not isinstance(candidate, dict):
                continue
            grade = _grade(candidate.get("token"), scale)
            logprob = candidate.get("logprob")
            if grade is not None and isinstance(logprob, int | float) and logprob <= 0:
                chances[grade] += math.exp(logprob)
        total = sum(chances.values())
        return {grade: chance / total for grade, chance in chances.items()} if total > 0 else None
    return None


def _grade(token: Any, scale: Scale) -> float | None:
    try:
        grade = float(token)
    except (TypeError, ValueError):
        return None
    return grade if grade in scale.words else None


def _address(url: str) -> str:
    """Address without the name and password that it may have."""
    scheme, slashes, location = url.rstrip("/").partition("://")
    host, slash, path = location.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


def _address_identity(written: str, url: str) -> dict[str, str]:
    """Address as it is written; if it names variables, also the hash of the address itself."""
    identity = {"url": _address(written)}
    if "${" in identity["url"]:
        identity["url_digest"] = sha256(_address(url).encode()).hexdigest()
    return identity


_ADDRESS = "an address, as in http://127.0.0.1:11434/v1"
_RESERVED = ("model", "messages", "stream", "n")  # keys of a request that the judge sets itself


def _pattern(section: Section, name: str, regular: str) -> "re.Pattern[str]":
    try:
        pattern = re.compile(regular)
    except re.error as error:
        raise section.error(
            name, str(error), r"a regular expression with a group, as in Grade: (\d)"
        ) from None
    if pattern.groups != 1:
        raise section.error(
            name,
            f"{pattern.groups} groups",
            r"one group that holds the grade, as in Grade: (\d)",
        )
    return pattern


def _params(section: Section, name: str) -> dict[str, Any]:
    params = dict(section.section(name).given)
    reserved = next((param for param in params if param in _RESERVED), None)
    if reserved:
        raise section.error(
            f"{name}.{reserved}",
            "a key that the judge sets itself",
            "other keys, such as temperature and max_tokens",
        )
    return params


@dataclass(frozen=True, kw_only=True)
class ChatKeys(JudgeKeys):
    """Keys of the kind ``openai``."""

    url: str = text(
        "Address of the interface, as in http://127.0.0.1:11434/v1.",
        pattern=r"^(https?://|\$\{).*$",
        words=_ADDRESS,
        expected=_ADDRESS,
    )
    model: str = text("Name of the model.", expected="the name of a model")
    key: str = declared(
        "",
        about="Environment variable of the key, as in ${OPENAI_API_KEY}.",
        read=lambda section, name: section.text(name, None),
        schema=lambda: {"type": "string", "pattern": r"\$\{"},
    )
    headers: Mapping[str, str] = entries(
        "Further headers of each request.", text_value, {"type": "string"}
    )
    prompt: str | None = file_to_read(
        "File of the prompt, with the fields {query}, and {title} or {text}; default a plain one."
    )
    system: str | None = file_to_read("File of the system's message.")
    params: Mapping[str, Any] = declared(
        dict,
        about="Further keys of the request, such as temperature and max_tokens.",
        read=_params,
        schema=lambda: {"type": "object", "propertyNames": {"not": {"enum": list(_RESERVED)}}},
    )
    probabilities: bool = flag("Take the probabilities of the first token that is a grade.")
    pattern: "re.Pattern[str] | None" = text(
        "Regular expression with one group that finds the grade.", made=_pattern
    )
    most_letters: int | None = whole("Letters of a document's text that are sent, at most.")


def chat_judge(keys: ChatKeys, written: Section, scale: Scale, timeout: float) -> ChatJudge:
    """Make the judge of a section; `written` is the section with the names of its secrets."""
    if written.has("key") and "${" not in str(written.given["key"]):
        raise written.error(
            "key",
            "a text in the file",
            "the name of an environment variable, as in ${OPENAI_API_KEY}",
        )
    system = None
    if keys.system is not None:
        system = Prompt.read(keys.system, is_for_pairs=False)
    judge = ChatJudge(
        keys.url,
        keys.model,
        Prompt.read(keys.prompt),
        scale,
        key=keys.key,
        headers=keys.headers,
        system=system,
        params=keys.params,
        probabilities=keys.probabilities,
        pattern=keys.pattern,
        name=keys.name,
        version=keys.version,
        most_letters=keys.most_letters,
        timeout=timeout,
    )
    judge.identity = {
        **judge.identity,
        **_address_identity(str(written.given["url"]), keys.url),
        "model": written.given["model"],
        "params": dict(written.section("params").given),
    }
    return judge
