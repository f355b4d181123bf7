"""Places for the names of points in a drawing, where no name covers another name or a point."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 34  # letters of a name; the table has it in full
LINE = 17.0  # height of a name of 12 px, with its ascenders and descenders
_RADIUS, _GAP = 7.0, 10.0
_CROSSED = 40.0  # cost of a name across the interval of a point, in px of distance
_NARROW, _USUAL, _BROAD, _WIDE = 4.5, 7.2, 10.5, 13.0  # px of a letter of 12 px, rather too many


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """Rectangle with its left, top, right and bottom edge in px."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Return True if the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def holds(self, other: "Box") -> bool:
        """Return True if the other is inside."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedPoint:
    """Point with its name, and the ends of its interval."""

    name: str
    x: float
    y: float
    top: float
    bottom: float


def shortened(name: str) -> str:
    """Return a name of at most 34 letters; the end of a longer one, where settings of a sweep
    differ, is kept.
    """
    return name if len(name) <= LONGEST else f"{name[:10]}…{name[-(LONGEST - 11) :]}"


def width(name: str) -> float:
    """Return the width of a name of 12 px in px, rather too large."""

    def of(letter: str) -> float:
        if unicodedata.east_asian_width(letter) in "WF":
            return _WIDE
        if letter in "ijlrtf.,:;'|!()[] ":
            return _NARROW
        return _BROAD if letter.isupper() or letter in "mw@%—…=+" else _USUAL

    return sum(map(of, name))


def label_boxes(points: Sequence[NamedPoint], inside: Box) -> list[Box | None]:
    """Choose a box for the name of each point: near its point, inside the drawing, and free of
    points and other names.

    Names of the first points are placed first. A name that has no room is None.
    """
    circles = [
        Box(
            left=one.x - _RADIUS, top=one.y - _RADIUS, right=one.x + _RADIUS, bottom=one.y + _RADIUS
        )
        for one in points
    ]
    intervals = [
        Box(left=one.x - 1, top=one.top, right=one.x + 1, bottom=one.bottom) for one in points
    ]
    placed: list[Box | None] = []
    for point in points:
        taken = [*circles, *(box for box in placed if box is not None)]
        free = [
            (distance + _CROSSED * sum(box.meets(other) for other in intervals), number, box)
            for number, (distance, box) in enumerate(_candidates(point))
            if inside.holds(box) and not any(box.meets(other) for other in taken)
        ]
        placed.append(min(free)[2] if free else None)
    return placed


def _candidates(point: NamedPoint) -> Iterator[tuple[float, Box]]:
    """Boxes at the right and the left of a point, and above and below it, with their distance from
    the nearest.
    """
    wide = width(point.name)
    for step in range(40):
        for up in (-1, 1) if step else (-1,):
            for side, left in (
                (0, point.x + _GAP),
                (1, point.x - _GAP - wide),
                (12, point.x - wide / 2),
            ):
                middle = point.y - 12 + up * step * LINE / 2
                yield (
                    abs(middle - point.y + 12) + side,
                    Box(
                        left=left,
                        top=middle - LINE / 2,
                        right=left + wide,
                        bottom=middle + LINE / 2,
                    ),
                )
