"""A plot with two logarithmic axes, written as SVG by hand: a drawing of a few dots is no reason to
install a plotting library.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 20, 52
COLOURS = ("#0b62a4", "#c2571a", "#3a7d44")


@dataclass(frozen=True)
class Series:
    """Named points (x, y), both above 0."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Axis:
    """Powers of ten between two places of the drawing."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> "_Axis":
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def __call__(self, value: float) -> float:
        return round(
            self.start
            + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start),
            1,
        )

    def ticks(self) -> range:
        return range(self.low, self.high + 1)


def write_plot(path: Path, series: Sequence[Series], x_name: str, y_name: str) -> None:
    """Draw dots joined by lines, and a dashed line along which time is proportional to size."""
    everything = [point for one in series for point in one.points]
    x = _Axis.around([point[0] for point in everything], LEFT, WIDTH - RIGHT)
    y = _Axis.around([point[1] for point in everything], HEIGHT - BOTTOM, TOP)
    parts = [*_frame(x, y, x_name, y_name), _proportional(x, y, series[0].points[-1])]
    for number, one in enumerate(series):
        parts += _drawn(one, x, y, COLOURS[number % len(COLOURS)], TOP + 20 + 18 * number)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img">'
    )
    title = f"<title>{escape(y_name)} against {escape(x_name)}</title>"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join(
            [
                head,
                title,
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
                *parts,
                "</svg>",
                "",
            ]
        ),
        encoding="utf-8",
    )


def _frame(x: _Axis, y: _Axis, x_name: str, y_name: str) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for power in x.ticks():
        at = x(10.0**power)
        yield f'<path d="M{at} {TOP}V{bottom}" stroke="#ddd"/>'
        yield (
            f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">10<tspan dy="-4" '
            f'font-size="9">{power}</tspan></text>'
        )
    for power in y.ticks():
        at = y(10.0**power)
        yield f'<path d="M{LEFT} {at}H{right}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end">{10.0**power:g}</text>'
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="#444" fill="none"/>'
    yield (
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" '
        f'text-anchor="middle">{escape(x_name)}</text>'
    )
    middle = (TOP + bottom) / 2
    yield (
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 '
        f'{middle})">{escape(y_name)}</text>'
    )


def _proportional(x: _Axis, y: _Axis, through: tuple[float, float]) -> str:
    """From the last point down to the edge of the drawing."""
    lowest = max(10.0**x.low, through[0] * 10.0**y.low / through[1])
    start = x(lowest), y(through[1] * lowest / through[0])
    return (
        f'<path d="M{start[0]} {start[1]}L{x(through[0])} {y(through[1])}" stroke="#888" '
        f'stroke-dasharray="4 4"/>'
    )


def _drawn(series: Series, x: _Axis, y: _Axis, colour: str, legend: float) -> Iterator[str]:
    places = [(x(across), y(up)) for across, up in series.points]
    yield (
        f'<path d="M{"L".join(f"{across} {up}" for across, up in places)}" stroke="{colour}" '
        f'fill="none" stroke-width="1.5"/>'
    )
    for (across, up), (_, value) in zip(places, series.points, strict=True):
        yield f'<circle cx="{across}" cy="{up}" r="3.5" fill="{colour}"/>'
        yield (
            f'<text x="{across - 6}" y="{up - 8}" text-anchor="end" fill="{colour}">{value:.3g} '
            f"s</text>"
        )
    yield f'<circle cx="{LEFT + 16}" cy="{legend - 4}" r="3.5" fill="{colour}"/>'
    yield f'<text x="{LEFT + 30}" y="{legend}">{escape(series.name)}</text>'
    if series.points:
        yield f'<path d="M{LEFT + 8} {legend + 14}h16" stroke="#888" stroke-dasharray="4 4"/>'
        yield f'<text x="{LEFT + 30}" y="{legend + 18}">proportional to the lines</text>'
