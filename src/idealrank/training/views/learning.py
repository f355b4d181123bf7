"""Learning curves as a page of its own: a panel a measure, a line a part of the data, the round
that is kept. No script and no network.
"""

import html
from collections.abc import Mapping, Sequence
from itertools import chain

from idealrank.pages.figures.theme import DARK, FONT, LIGHT

# Size of a panel, and its margins, in units of its viewBox; the labels of the lines are right
_WIDTH = 640
_HEIGHT = 220
_LEFT = 58
_TOP = 14
_BOTTOM = 34
_RIGHT = 96
_LINE = 13  # between two labels
_DASHES = {"train": "5 4", "valid": ""}
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Learning curves</title>
<style>
:root {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ font-family: {font}; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 44rem; padding: 0 1rem; }}
h2 {{ font-size: 1rem; margin: 2rem 0 .5rem; }}
svg {{ max-width: 100%; height: auto; font-size: 11.5px; }}
svg text {{ fill: var(--quiet); }}
.train {{ stroke: var(--run); fill: none; stroke-width: 1.6; }}
.valid, .test {{ stroke: var(--accent); fill: none; stroke-width: 2; }}
.grid {{ stroke: var(--line); }}
.kept {{ stroke: var(--worse); stroke-dasharray: 2 3; }}
</style>
</head>
<body>
<main>
<h1>Learning curves</h1>
<p>{sentence}</p>
{panels}
</main>
</body>
</html>
"""  # noqa: E501


def learning_page(curves: Mapping[str, Mapping[str, Sequence[float]]], best: int) -> str:
    """The page."""
    measures = list(dict.fromkeys(chain.from_iterable(curves.values())))
    sentence = f"The model keeps round {best}. A value on the training set is no result."
    panels = []
    for measure in measures:
        lines = {
            part: by_measure[measure]
            for part, by_measure in curves.items()
            if by_measure.get(measure)
        }
        panels.append(_panel(measure, lines, best))
    return _PAGE.format(
        light=_variables(LIGHT),
        dark=_variables(DARK),
        font=FONT,
        sentence=sentence,
        panels="\n".join(panels),
    )


def _variables(theme: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in theme.items())


def _panel(measure: str, lines: Mapping[str, Sequence[float]], best: int) -> str:
    values = list(chain.from_iterable(lines.values()))
    low = min(values)
    high = max(values)
    margin = (high - low) * 0.06 or 0.01
    low = low - margin
    high = high + margin
    rounds = max(map(len, lines.values()))

    def across(number: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (number - 1) / max(rounds - 1, 1)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)

    drawn = [
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(value):.1f}" '
        f'y2="{up(value):.1f}"/>'
        f'<text x="{_LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end">{value:.3f}</text>'
        for value in (low + margin, (low + high) / 2, high - margin)
    ]
    drawn += [
        f'<text x="{across(number):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{number}</text>'
        for number in dict.fromkeys((1, best, rounds))
    ]
    drawn.append(
        f'<line class="kept" x1="{across(best):.1f}" x2="{across(best):.1f}" y1="{_TOP}" '
        f'y2="{_HEIGHT - _BOTTOM}"/>'
    )
    heights = _spread({part: up(line[-1]) for part, line in lines.items()})
    for part, line in lines.items():
        points = " ".join(
            f"{across(number):.1f},{up(value):.1f}" for number, value in enumerate(line, 1)
        )
        drawn.append(
            f'<polyline class="{html.escape(part)}" stroke-dasharray="{_DASHES.get(part, "2 2")}" '
            f'points="{points}"/>'
        )
        drawn.append(
            f'<text x="{across(len(line)) + 6:.1f}" y="{heights[part] + 4:.1f}">'
            f"{html.escape(part)} {line[-1]:.4f}</text>"
        )
    last = "; ".join(
        f"{part} {line[min(best, len(line)) - 1]:.4f} at round {best}"
        for part, line in lines.items()
    )
    title = html.escape(measure)
    return (
        f'<h2>{title}</h2>\n<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{title} by round: {html.escape(last)}">' + "".join(drawn) + "</svg>"
    )


def _spread(places: Mapping[str, float]) -> dict[str, float]:
    """Heights of labels, moved apart where they would meet."""
    heights: dict[str, float] = {}
    above = float("-inf")
    for part in sorted(places, key=places.__getitem__):
        above = max(places[part], above + _LINE)
        heights[part] = above
    return heights
