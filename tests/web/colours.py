"""What colours look like to people who see some of them alike, and how far two of them are
apart.
"""

import re

import numpy as np

from idealrank.data.types import FloatArray

# Machado, Oliveira, Fernandes (2009), A physiologically-based model for simulation of color vision
# deficiency. IEEE TVCG 15 (6): matrices of severity 1.0, for linear RGB.
SEEN = {
    "trichromacy": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# sRGB to CIE XYZ, IEC 61966-2-1; white is D65.
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> FloatArray:
    """Linear RGB of `rgb(...)` as a browser computes it."""
    values = np.array([float(number) for number in re.findall(r"[\d.]+", colour)[:3]]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light: FloatArray) -> FloatArray:
    """CIE Lab of linear RGB."""
    ratio = (_XYZ @ np.clip(light, 0, 1)) / _XYZ.sum(axis=1)
    x, y, z = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(one: str, other: str, seen: str = "trichromacy") -> float:
    """Distance in CIE Lab (1976) as somebody sees them; about 2 can just be told apart."""
    return float(np.linalg.norm(lab(SEEN[seen] @ linear(one)) - lab(SEEN[seen] @ linear(other))))


def contrast(one: str, other: str) -> float:
    """Of text on its ground, as WCAG 2 has it: from 1 to 21; small text needs 4.5."""
    luminance = sorted(float(_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (luminance[1] + 0.05) / (luminance[0] + 0.05)
