"""Drawings from Vega-Lite specifications: SVG, PNG, PDF, and pages that need no network.

The library that draws, vl-convert, is loaded where it is used, after a check that it has room.
"""

import html
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from idealrank._files import write_bytes
from idealrank._lazy import load_extra
from idealrank.errors import InputError
from idealrank.reports.table.formats import FigureFormat


def vega(what: str, extra: str) -> Any:
    """Load vl-convert, 30 MB that only drawings need."""
    library = load_extra("vl_convert", what, extra, package="vl-convert-python")
    check_room(what)
    return library


@cache
def check_room(what: str) -> None:
    """Refuse to draw under a limit on the address space that is too low.

    The JavaScript engine of vl-convert reserves tens of gigabytes of addresses, not of memory, and
    ends the whole process where it may not. So under a limit it is tried in a process of its own.
    """
    limit = _address_limit()
    if limit is None:
        return
    tried = [sys.executable, "-P", "-c", "import vl_convert; vl_convert.javascript_bundle()"]
    if subprocess.run(tried, check=False, stdin=subprocess.DEVNULL, capture_output=True).returncode:  # noqa: S603  (no shell)
        raise InputError(
            f"{what}: found an address space limited to {limit / 2**30:,.1f} GiB (ulimit -v), in "
            f"which the drawing library cannot start; expected no limit, since the library "
            f"reserves far more addresses than memory. Limit the memory with a control group "
            f"(systemd-run -p MemoryMax=4G), or omit figures and pages"
        )


def _address_limit() -> int | None:
    """Limit on the address space in bytes; None without one, and on systems that have none."""
    try:
        import resource  # noqa: PLC0415  (Windows has none)
    except ModuleNotFoundError:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


_BUNDLING = [
    sys.executable,
    "-P",
    "-c",
    "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())",
]
_ahead: "list[subprocess.Popen[bytes]]" = []


def bundle_ahead() -> None:
    """Start to bundle Vega in a process of its own; `bundle` waits for it.

    The engine of vl-convert holds Python's lock for two seconds, so a thread would not help. Only a
    package that is installed is loaded, never a file of the folder.
    """
    if sys.executable and not _ahead and not _script.cache_info().currsize:
        with suppress(OSError):  # then it is bundled here, where it is needed
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            _ahead.append(subprocess.Popen(_BUNDLING, stdin=nothing, stdout=pipe, stderr=nothing))  # noqa: S603  (no shell)


def bundle(what: str, extra: str) -> str:
    """Bundle Vega, Vega-Lite and Vega-Embed as one script; parameters and errors as of `vega`."""
    library = vega(what, extra)
    return _script(library)


@cache
def _script(library: Any) -> str:
    if _ahead:
        process = _ahead[0]
        output, _ = process.communicate()
        _ahead.pop()
        if not process.returncode:
            return output.decode()
    script: str = library.javascript_bundle()
    return script


Spec: TypeAlias = dict[str, Any]
Format: TypeAlias = FigureFormat

_NEEDS = ("drawing SVG, PNG, PDF and HTML", "plots")
_DOTS = 300  # of a picture for each inch of paper
_PIXELS = 2.0  # of a PNG for each pixel of the specification: sharp in print, too
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')  # attributes of a drawing that hold positions
_SIZE = re.compile(r'(?<= )(width|height)="([\d.]+)"')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?!\d*e)")

# Nothing is fetched and nothing is evaluated from text: Vega interprets its expressions instead.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
body {{ margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #333; }}
body {{ font: 15px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; }}
h1 {{ font-size: 1.3rem; }}
pre {{ white-space: pre-wrap; font-size: 0.8rem; }}
figure {{ margin: 0 0 2rem; overflow-x: auto; }}
#vg-tooltip-element {{ font: 13px/1.5 "Liberation Sans", Arial, sans-serif; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{figures}
<details><summary>Licences of the software that draws the figures</summary>
<pre tabindex="0">{licences}</pre>
</details>
</main>
<script>{bundle}</script>
<script>
const menu = {{export: true, source: false, compiled: false, editor: false}};
for (const [name, spec] of Object.entries({specs})) {{
  const figure = document.getElementById(name);
  vegaEmbed(figure, spec, {{renderer: "svg", ast: true, actions: menu}}).then(() => {{
    figure.querySelector("summary").setAttribute("aria-label", "Save the figure");
  }});
}}
</script>
</body>
</html>
"""


def svg(spec: Spec, scale: float | None = None) -> str:
    """Draw SVG for papers and pages, its pixels `scale` points wide in print; positions have two
    digits after the point, a hundredth of a pixel.

    A screen reader reads the description of the specification.
    """
    return _finished(_vega().vegalite_to_svg(spec), spec, scale)


def _finished(drawn: str, spec: Spec, scale: float | None) -> str:
    """Finish a drawing: short numbers, its size in print, and its description."""
    short = _PLACES.sub(lambda places: _LONG_NUMBER.sub(_hundredths, places[0]), drawn)
    short = short if scale is None else _sized(short, scale / 72, "in")
    description = html.escape(str(spec.get("description", "")), quote=True)
    if not description:
        return short
    return short.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)


def _sized(drawn: str, scale: float, unit: str) -> str:
    """Change the size of a drawing; its content stays, since positions refer to its view box."""
    return _SIZE.sub(lambda size: f'{size[1]}="{float(size[2]) * scale:.5g}{unit}"', drawn, count=2)


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def png(spec: Spec, scale: float | None = None) -> bytes:
    """Draw a PNG with two pixels to one of the specification, or 300 to the inch; parameters and
    errors as for `svg`.
    """
    sharp = {"scale": _PIXELS} if scale is None else {"scale": scale, "ppi": _DOTS}
    picture: bytes = _vega().vegalite_to_png(spec, **sharp)
    return picture


def pdf(spec: Spec, scale: float | None = None) -> bytes:
    """Draw a PDF with its fonts in it, a point to each pixel, or `scale` points; parameters and
    errors as for `svg`.
    """
    drawing: bytes = _vega().svg_to_pdf(_sized(_vega().vegalite_to_svg(spec), scale or 1.0, ""))
    return drawing


def in_print(
    spec: Spec, scale: float, kinds: Sequence[str] = ("svg", "png", "pdf")
) -> dict[Format, "str | bytes"]:
    """Draw some of SVG, PNG and PDF of one figure at once; parameters and errors as for `svg`."""
    library = _vega()
    drawing: str = library.vegalite_to_svg(spec)
    small = _sized(drawing, scale, "")
    drawn: dict[Format, str | bytes] = {}
    if "svg" in kinds:
        drawn["svg"] = _finished(drawing, spec, scale)
    if "png" in kinds:
        drawn["png"] = library.svg_to_png(small, scale=1.0, ppi=_DOTS)
    if "pdf" in kinds:
        drawn["pdf"] = library.svg_to_pdf(small)
    return drawn


def page(specs: Mapping[str, Spec], title: str) -> str:
    """Write one page with all figures and the scripts that draw them; it sends no request. Errors
    as for `svg`.
    """
    script = _inside_script(bundle(*_NEEDS))
    # A figure scrolls if its drawing is wider than a phone. Vega labels the drawing with the
    # specification's description, so the element around it has no label: the menu is not an image.
    figures = "\n".join(f'<figure><div id="{name}"></div></figure>' for name in specs)
    return _PAGE.format(
        policy=html.escape(_POLICY, quote=False),
        title=html.escape(title),
        figures=figures,
        licences=html.escape(licences(), quote=False),
        bundle=script,
        specs=_as_script(specs),
    )


@cache
def licences() -> str:
    """Return the notices of Vega and of the software in its bundle, which every copy must have."""
    folder = resources.files("idealrank.pages.figures")
    return folder.joinpath("licences.txt").read_text(encoding="utf-8")


def save(
    figures: Mapping[str, Spec], folder: Path, kind: Format, scale: float | None = None
) -> list[Path]:
    """Write figures to a folder, each file whole or not at all."""
    return [
        write_file(folder / f"{name}.{kind}", drawn(spec, kind, scale))
        for name, spec in figures.items()
    ]


def drawn(spec: Spec, kind: Format, scale: float | None = None) -> "str | bytes":
    r"""Draw one figure as the content of a file; errors as for `svg`."""
    return _DRAWN[kind](spec, scale)


def _text(spec: Spec, _: float | None = None) -> str:
    return json.dumps(spec, indent=1, ensure_ascii=False) + "\n"


_DRAWN: Mapping[str, Callable[[Spec, float | None], str | bytes]] = {
    "svg": svg,
    "png": png,
    "pdf": pdf,
    "json": _text,
}


def write_file(path: Path, content: "str | bytes") -> Path:
    """Write a file whole; its folder is made if it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    write_bytes([content if isinstance(content, bytes) else content.encode()], str(path))
    return path


def check_drawable(kind: Format) -> None:
    """Load what a format needs before anything is computed for it."""
    if kind != "json":
        _vega()


def _vega() -> Any:
    return vega(*_NEEDS)


def _as_script(value: Any) -> str:
    """Write JSON that can be inside a script element, whatever its texts are."""
    text = _inside_script(json.dumps(value))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _inside_script(text: str) -> str:
    return re.sub(r"<(?=/script|!--|script)", r"\\u003c", text, flags=re.IGNORECASE)
