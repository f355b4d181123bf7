"""Channels that carry messages about alarms: JSON lines, webhooks, Alertmanager, and e-mail and
chat through Apprise.

A channel sends one message at least once. Each attempt carries the same key, by which a receiver
can drop a message that it has.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from idealrank._keys import (
    amount,
    entries,
    read,
    schema_of,
    schema_of_kinds,
    text,
    text_value,
    texts,
)
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError
from idealrank.live.backends.secrets import Secrets
from idealrank.live.http_requests import exchange, http_client
from idealrank.live.monitoring import StoredAlarm, StoredNotice

_WHAT = "messages over HTTP"  # what needs httpx, for the message that it is not installed
_TIMEOUT = 10.0  # seconds for one message
_LONGEST = 500  # letters of an answer in a message
_MOST_READ = 65536  # bytes of an answer; secrets are hidden in them before they are cut


class Channel(Protocol):
    """Receiver of messages about alarms."""

    @property
    def name(self) -> str:
        """Name of the channel."""
        ...

    def send(self, notice: StoredNotice) -> None:
        """Send a message, or raise `BackendError`."""

    def keep_alive(self, alarms: Sequence[StoredAlarm]) -> None:
        """Tell which alarms are open, for receivers that forget alarms after a while."""


def message_of(notice: StoredNotice) -> dict[str, Any]:
    """Return the message as plain values, with its key."""
    return {"key": notice.id.rpartition("/")[0], **notice.content}


def title_of(content: Mapping[str, Any]) -> str:
    """Return a message in one line."""
    group = f" (slice {content['slice']})" if content.get("slice") else ""
    change = f"alarm {content['rule']}{group} {content['event']}"
    return f"{content['monitor']}: {change}: {content['text']}"


@dataclass(frozen=True)
class JsonLines:
    """One JSON object a line, in a file or on standard error."""

    name: str
    path: str | None

    def send(self, notice: StoredNotice) -> None:
        """Append the line."""
        line = json.dumps(message_of(notice), ensure_ascii=False) + "\n"
        if self.path is None:
            sys.stderr.write(line)
            sys.stderr.flush()
            return
        try:
            # Half a surrogate pair is not UTF-8; it is written as JSON escapes it.
            with Path(self.path).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(line)
        except OSError as error:
            raise BackendError(f"{self.path}: {error.strerror or error}", temporary=True) from None

    def keep_alive(self, alarms: Sequence[StoredAlarm]) -> None:
        """Do nothing: a log forgets nothing."""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """POST of a JSON object; the header ``Idempotency-Key`` is the same at every attempt."""

    name: str
    url: str
    headers: Mapping[str, str]
    hide: Callable[[str], str]

    def send(self, notice: StoredNotice) -> None:
        """Send the message."""
        message = message_of(notice)
        post(self.url, message, {**self.headers, "Idempotency-Key": message["key"]}, self.hide)

    def keep_alive(self, alarms: Sequence[StoredAlarm]) -> None:
        """Do nothing: a webhook gets changes only."""


@dataclass(frozen=True, kw_only=True)
class Alertmanager:
    """Alerts of the API v2 of Prometheus Alertmanager.

    Alertmanager takes alerts with the same labels as one, and resolves an alert at its end; an open
    alarm is sent again after each round, with an end that is a few rounds ahead.
    """

    name: str
    url: str
    headers: Mapping[str, str]
    hold: float
    hide: Callable[[str], str]

    def send(self, notice: StoredNotice) -> None:
        """Open or resolve the alert of a message."""
        content = notice.content
        now = datetime.now(UTC)
        if content["event"] == "opened":
            alert = self._alert(content, content["time"], now + timedelta(seconds=self.hold))
        else:
            alert = self._alert(content, content["opened_time"], now)
        self._post([alert])

    def keep_alive(self, alarms: Sequence[StoredAlarm]) -> None:
        """Move the end of open alerts."""
        if not alarms:
            return
        end = datetime.now(UTC) + timedelta(seconds=self.hold)
        alerts = []
        for alarm in alarms:
            content = {
                "monitor": alarm.monitor,
                "rule": alarm.rule,
                "slice": alarm.slice,
                "alarm": alarm.id,
                **alarm.record,
            }
            alerts.append(self._alert(content, alarm.opened_time, end))
        self._post(alerts)

    def _alert(self, content: Mapping[str, Any], start: str, end: datetime) -> dict[str, Any]:
        labels = {
            "alertname": "IdealrankAlarm",
            "monitor": content["monitor"],
            "rule": content["rule"],
            "severity": content["severity"],
        }
        if content.get("slice"):
            labels["slice"] = content["slice"]
        # A clock that was set back must not give an alert that ends before it starts.
        begins = min(datetime.fromisoformat(start), end)
        return {
            "labels": labels,
            "annotations": {"summary": str(content["text"]), "alarm": str(content["alarm"])},
            "startsAt": begins.isoformat(),
            "endsAt": end.isoformat(),
        }

    def _post(self, alerts: list[dict[str, Any]]) -> None:
        post(self.url.rstrip("/") + "/api/v2/alerts", alerts, self.headers, self.hide)


@dataclass(frozen=True)
class AppriseChannel:
    """E-mail, chat and more, by the addresses of Apprise."""

    name: str
    urls: tuple[str, ...]
    hide: Callable[[str], str]

    def send(self, notice: StoredNotice) -> None:
        """Send the message, with its key at the end of the text."""
        apprise = load_extra("apprise", "messages by e-mail and chat", "monitor", "apprise")
        sender = apprise.Apprise()
        for url in self.urls:
            if not sender.add(url):
                problem = f"Apprise does not know the address {url!r}; see its list of services"
                raise BackendError(self.hide(f"{self.name}: {problem}"))
        message = message_of(notice)
        if not sender.notify(
            title=title_of(message),
            body=f"{message['text']}\nround {message['round']}, key {message['key']}",
        ):
            raise BackendError(f"{self.name}: Apprise could not send the message", temporary=True)

    def keep_alive(self, alarms: Sequence[StoredAlarm]) -> None:
        """Do nothing: people remember."""


def post(
    url: str, content: Any, headers: Mapping[str, str], hide: Callable[[str], str] = str
) -> None:
    """POST a JSON value."""
    fields = {
        "content-type": b"application/json",
        **{name.lower(): value.encode("utf-8", "replace") for name, value in headers.items()},
    }
    with http_client(_WHAT, "monitor", timeout=_TIMEOUT) as client:
        body = json.dumps(content).encode()
        answer = exchange(
            client, hide(url), "POST", url, most=_MOST_READ, hide=hide, content=body, headers=fields
        )
    if not 200 <= answer.status < 300:
        raise BackendError(
            f"{hide(url)}: HTTP {answer.status}: {hide(answer.text)[:_LONGEST]}",
            temporary=answer.is_temporary,
        )


def channels_of(top: Section, every: float) -> tuple[Channel, ...]:
    """Read the list ``notify``; without it, messages are JSON lines on standard error."""
    sections = top.given.get("notify")
    if sections is None:
        return (JsonLines("log", None),)
    if not isinstance(sections, Sequence) or isinstance(sections, str):
        raise top.error("notify", repr(sections), "a list of channels, as in `- kind: webhook`")
    channels = [
        _channel(Section(content, top.path, f"notify[{place}]"), every)
        for place, content in enumerate(sections, start=1)
    ]
    names = [channel.name for channel in channels]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise top.error(
            "notify", f"two channels with the name {repeated!r}", "a key `name` that is unique"
        )
    return tuple(channels)


_ADDRESS = (
    "an address that starts with http:// or https://, with a host, in ASCII and without blanks"
)


def _address(about: str) -> Any:
    pattern = r"^(https?://[^/?#\s]|\$\{)[!-~]*$"
    return text(about, pattern=pattern, words=_ADDRESS, expected=_ADDRESS)


@dataclass(frozen=True, kw_only=True)
class ChannelKeys:
    """Keys of every channel, besides its kind."""

    name: str | None = text(
        "Name of the channel; default its kind. Unique in its monitor.",
        pattern="^[^/]+$",
        words="a name without a slash",
    )


@dataclass(frozen=True, kw_only=True)
class LogKeys(ChannelKeys):
    """Keys of the kind ``log``."""

    path: str | None = text("File that lines of JSON are appended to; default standard error.")


@dataclass(frozen=True, kw_only=True)
class WebhookKeys(ChannelKeys):
    """Keys of the kind ``webhook``."""

    url: str = _address("Address that a message is posted to.")
    headers: Mapping[str, str] = entries(
        "Further headers of each request.", text_value, {"type": "string"}
    )


@dataclass(frozen=True, kw_only=True)
class AlertmanagerKeys(WebhookKeys):
    """Keys of the kind ``alertmanager``."""

    url: str = _address("Address of Alertmanager, without the path of its API.")
    hold: float | None = amount(
        "Seconds that an alert lasts without news; default four rounds, at least 300.",
        least=1.0,
        most=1e9,
        unit="seconds",
    )


@dataclass(frozen=True, kw_only=True)
class AppriseKeys(ChannelKeys):
    """Keys of the kind ``apprise``."""

    urls: tuple[str, ...] = texts(
        "Addresses of Apprise, as in mailto://...",
        expected="addresses of Apprise, as in mailto://...",
    )


CHANNELS: Mapping[str, type[ChannelKeys]] = {
    "log": LogKeys,
    "webhook": WebhookKeys,
    "alertmanager": AlertmanagerKeys,
    "apprise": AppriseKeys,
}
"""Keys of each kind of channel."""


def channel_schema() -> dict[str, Any]:
    """Return the JSON Schema of a channel."""
    kinds = {kind: schema_of(keys, kind) for kind, keys in CHANNELS.items()}
    return schema_of_kinds(kinds, "Kind of channel, which decides on the other keys.")


def _channel(section: Section, every: float) -> Channel:
    kind = section.kind(CHANNELS)
    keys = read(CHANNELS[kind], section, known=("kind",))
    name = keys.name or kind

    secrets = Secrets()
    if isinstance(keys, LogKeys):
        return JsonLines(name, keys.path)
    if isinstance(keys, AppriseKeys):
        return AppriseChannel(name, tuple(secrets.fill(keys.urls, section)), secrets.hide)
    assert isinstance(keys, WebhookKeys)  # noqa: S101  (the others are above)
    url = str(secrets.fill(keys.url, section))
    if not can_be_asked(url):
        raise section.error("url", repr(keys.url), _ADDRESS)
    headers = secrets.fill(keys.headers, section)

    load_extra("httpx", _WHAT, "monitor")
    if not isinstance(keys, AlertmanagerKeys):
        return Webhook(name=name, url=url, headers=headers, hide=secrets.hide)
    hold = max(4 * every, 300.0) if keys.hold is None else keys.hold
    return Alertmanager(name=name, url=url, headers=headers, hold=hold, hide=secrets.hide)


def can_be_asked(url: str) -> bool:
    """Return True for an address of HTTP with a host, in ASCII and without blanks."""
    try:
        split = urlsplit(url)
        is_address = split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:
        return False
    return is_address and url.isascii() and url.isprintable() and " " not in url
