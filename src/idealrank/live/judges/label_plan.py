"""Plan of labels: the pairs that people grade, their order, and the pairs that two people grade."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from idealrank.errors import InputError, OptionError, shown
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_answers import Scale

_UNLIMITED = 1 << 30  # people, more than there are


@dataclass(frozen=True, kw_only=True)
class LabelPlan:
    """Pairs to label, and how."""

    pairs: Sequence[JudgmentPair]  # With their texts
    scale: Scale  # Grades, with their words
    double: float = 0.0  # Share of the pairs that two people label
    # Known grades of some pairs, which every person labels
    gold: Mapping[tuple[str, str], float] = field(default_factory=dict)
    # Grades of a model, which are shown after a person has answered
    model: Mapping[tuple[str, str], float] = field(default_factory=dict)
    model_name: str = "model"  # Name of the model
    # Seed of the order inside a query, and of the choice of pairs that two people label
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.double <= 1:
            raise OptionError(f"double: found {self.double}, expected a share from 0 to 1")
        for (query, document), grade in self.gold.items():
            if grade not in self.scale.words:
                where = f"query {shown(repr(query))}, document {shown(repr(document))}"
                raise OptionError(
                    f"gold: {where}: found the grade {grade:g}, expected one of {self.scale.text}"
                )
        for pair in self.pairs:
            for kind, text in (("query", pair.query), ("document", pair.document)):
                # SQLite holds UTF-8 alone
                if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                    raise InputError(
                        f"pairs: found {kind} {shown(repr(text))}, expected an id in UTF-8; save "
                        "its file as UTF-8"
                    )

    @cached_property
    def _doubled(self) -> frozenset[tuple[str, str]]:
        """Pairs that two people label."""
        ranked = sorted(
            (self._drawn("double", pair), pair.key)
            for pair in self.pairs
            if pair.key not in self.gold
        )
        n_doubled = round(self.double * len(ranked))
        return frozenset(key for _, key in ranked[:n_doubled])

    def _drawn(self, purpose: str, pair: JudgmentPair) -> bytes:
        """Random bytes of a pair, which do not depend on the other pairs of the list."""
        return hashlib.sha256(json.dumps([self.seed, purpose, *pair.key]).encode()).digest()

    def n_raters(self, pair: JudgmentPair) -> int:
        """Return the number of people to label a pair; a gold question has no limit."""
        if pair.key in self.gold:
            return _UNLIMITED
        return 2 if pair.key in self._doubled else 1

    @property
    def ordered(self) -> list[JudgmentPair]:
        """Pairs by priority, then query by query as they come; inside a query in a random order, so
        that no ranking of a run shows.
        """
        others = [pair for pair in self.pairs if pair.key not in self.gold]
        queries = {pair.query for pair in others}
        is_ranked = any(math.isfinite(pair.priority) for pair in others)
        places: dict[str, int] = {}
        for pair in self.pairs:
            places.setdefault(pair.query, len(places))

        def place(pair: JudgmentPair) -> tuple[float, int, bytes]:
            return pair.priority, places[pair.query], self._drawn("order", pair)

        # A gold question that the list alone would put last, such as one of a query without other
        # pairs, would show itself: it goes just behind a random pair.
        def mixed(pair: JudgmentPair) -> tuple[float, int, bytes, bytes]:
            is_stray = pair.query not in queries or (is_ranked and math.isinf(pair.priority))
            if pair.key not in self.gold or not others or not is_stray:
                return *place(pair), b""
            beside = others[int.from_bytes(self._drawn("beside", pair)) % len(others)]
            return *place(beside), self._drawn("order", pair)

        return sorted(self.pairs, key=mixed)
