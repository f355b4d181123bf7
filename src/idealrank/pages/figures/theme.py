"""The look of every figure: colours by what they mean, sizes, short names of runs, and how a
template becomes a drawable specification.

Templates name colours, runs and numbers by words, as ``"@accent"`` or ``"@b better on @wins
queries"``. The words are filled in when a figure is drawn: here for files and notebooks, in a page
by its script, which takes the colours from the page's own style.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]

SCHEMA_URL = "https://vega.github.io/schema/vega-lite/v6.json"  # a name: nothing fetches it
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

# One accent, and an orange-brown that people who see few colours tell from it; all text has a
# contrast of 4.5 or more.
LIGHT: Mapping[str, str] = {
    "ink": "#1F2A33",
    "quiet": "#5C6873",
    "axis": "#9AA4AC",
    "line": "#E6EAED",
    "paper": "#FFFFFF",
    "accent": "#0B6E99",
    "worse": "#B5541C",
    "run": "#69747D",
    "other": "#C2C9CF",
    "wash": "#F2F5F7",
}
DARK: Mapping[str, str] = {
    "ink": "#E7EBEE",
    "quiet": "#A3AEB7",
    "axis": "#6B7680",
    "line": "#2B333A",
    "paper": "#14191D",
    "accent": "#5BB4DB",
    "worse": "#E9935C",
    "run": "#A3AEB7",
    "other": "#4A545D",
    "wash": "#1D242A",
}

# In notebooks, whose background may be light or dark: text takes the colour of the text around
# it, and the others contrast with both.
NOTEBOOK: Mapping[str, str] = {
    "ink": "currentColor",
    "quiet": "#7D8891",
    "axis": "#8F99A1",
    "line": "rgba(128, 140, 150, 0.25)",
    "paper": "transparent",
    "accent": "#0F7FAE",
    "worse": "#C0651F",
    "run": "#7D8891",
    "other": "rgba(128, 140, 150, 0.5)",
    "wash": "rgba(128, 140, 150, 0.12)",
}

# Figures are designed in pixels, with text of 11.5 to 12.5; at this scale these are 7.1 to 7.8
# points in print.
POINTS_PER_PIXEL = 0.62
_NARROW = 520  # pixels: below, intervals are drawn but not written
_FEW_LETTERS = 19  # of a label, where the figure is narrow
# Widths in print, in inches, by the ending of the names of the files: one column, and both.
COLUMNS: Mapping[str, float] = {"": 3.33, "-wide": 7.0}
_WORD = re.compile(r"@([a-z]+)\b")


def pixels(inches: float) -> int:
    """Return the width of a design, in pixels, that is so many inches wide in print."""
    return round(72 * inches / POINTS_PER_PIXEL)


def config() -> Spec:
    """Return the shared configuration of figures, with names for colours."""
    return {
        # the whole figure is described in words, which says more than each mark would
        "aria": False,
        "font": "@font",
        "background": "@paper",
        "padding": 4,
        "view": {"stroke": None},
        "line": {"strokeWidth": 1.8, "strokeJoin": "round"},
        "rule": {"color": "@axis"},
        "text": {"font": "@font", "fontSize": 12, "color": "@ink"},
        "axis": {
            "labelFont": "@font",
            "titleFont": "@font",
            "labelFontSize": 11.5,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titleColor": "@ink",
            "labelColor": "@quiet",
            "gridColor": "@line",
            "gridWidth": 1,
            "tickColor": "@axis",
            "domainColor": "@axis",
            "tickSize": 4,
            "labelFlush": False,
        },
        "axisX": {"titlePadding": 8},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6, **ABOVE},
    }


def titled_config() -> Spec:
    """Return the configuration of figures with a title that stand alone, in documents."""
    title = {
        "anchor": "start",
        "frame": "group",
        "fontSize": 14,
        "fontWeight": "bold",
        "color": LIGHT["ink"],
        "offset": 14,
        "subtitleFontSize": 11.5,
        "subtitleColor": LIGHT["quiet"],
        "subtitlePadding": 5,
    }
    shared: Spec = _filled(config(), {"font": FONT, **LIGHT})
    shared.pop("aria")
    return shared | {
        "padding": 14,
        "concat": {"spacing": 16},
        "title": title,
        "axisX": {"grid": False, "titlePadding": 8},
    }


# The title of a y axis is above it, and horizontal.
ABOVE: Spec = {
    "titleAngle": 0,
    "titleAlign": "left",
    "titleAnchor": "end",
    "titleX": 0,
    "titleY": -10,
}


def dressed(
    template: Spec,
    rows: Sequence[Row],
    words: Mapping[str, Any],
    colours: Mapping[str, str] = LIGHT,
) -> Spec:
    """Fill a template with its rows and words.

    A text that is one word becomes its value, whatever that is; inside a longer text it becomes
    text. Rows stay as they are, so that nothing in them is taken for a word.
    """
    meant = {name: colours[value] for name, value in words.items() if name.endswith("colour")}
    filled: Spec = _filled(template, {"font": FONT, **colours, **words, **meant})
    return filled | {"datasets": {"rows": [dict(row) for row in rows]}}


def _filled(part: Any, words: Mapping[str, Any]) -> Any:
    if isinstance(part, dict):
        return {name: _filled(value, words) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_filled(value, words) for value in part]
    return in_words(part, words) if isinstance(part, str) and "@" in part else part


def in_words(text: str, words: Mapping[str, Any]) -> Any:
    """Fill in the words of one text; what is no word stays."""
    alone = _WORD.fullmatch(text)
    if alone and alone[1] in words:
        return words[alone[1]]
    return _WORD.sub(lambda match: str(words.get(match[1], match[0])), text)


def room_words(width: float, letters: int) -> dict[str, Any]:
    """Choose the words that depend on the room: where labels at the left begin, which numbers and
    names are drawn, where a corner is.
    """
    narrow = width < _NARROW
    room = round(6.1 * min(letters, _FEW_LETTERS if narrow else letters)) + 16
    return {
        "numbers": "brief" if narrow else "text",
        "names": "short" if narrow else "label",
        "left": -room,
        "indented": 12 - room,
        "room": room - 4,
        "below": 50 if narrow else 32,
    }


def in_print(spec: Spec, inches: float) -> Spec:
    """Lay out the specification for a width in print, in pixels of the design."""
    layout = spec.get("usermeta", {})
    if layout.get("fixed"):
        return spec
    width = pixels(inches)
    if "square" in layout:  # equal scales: the room beside the panel is known
        side = min(width, layout["widest"]) - layout["square"]
        return spec | {"width": side, "height": side}
    room = {"autosize": {"type": "fit-x", "contains": "padding"}, "width": width}
    height = layout.get("height")
    if isinstance(height, dict):
        height = height["step"] * len(spec["datasets"]["rows"])
    return spec | room if height is None else spec | {"height": height} | room


def spread_out(wanted: Mapping[str, float], gap: float) -> dict[str, float]:
    """Find places at least a gap apart, as near to the wanted ones as possible; places that are too
    close are spread about their middle.
    """
    order = sorted(wanted, key=lambda name: wanted[name])
    # Without their gaps, places that are too close fall. Least squares with a minimal distance is
    # isotonic regression of these: neighbours that fall are pooled at their mean.
    pools: list[tuple[float, int]] = []
    for number, name in enumerate(order):
        last = wanted[name] - number * gap
        count = 1
        while pools and pools[-1][0] > last:
            before, before_count = pools.pop()
            total = count + before_count
            last = (last * count + before * before_count) / total
            count = total
        pools.append((last, count))
    level = [mean for mean, count in pools for _ in range(count)]
    return {name: level[number] + number * gap for number, name in enumerate(order)}
