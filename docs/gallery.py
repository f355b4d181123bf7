"""Draw the pictures of the gallery and of the guide from a gate to a query anew: ``python
docs/gallery.py`` (`make gallery`).

They are taken from the reports that the browser tests open, in the same browser, and kept small: at
most 256 colours, which is more than a page of text and lines has. Needs Chromium, Playwright and
NumPy.
"""

import atexit
import base64
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs import gallery_store  # noqa: E402  (the path above comes first)
from idealrank.io.texts import DocumentText  # noqa: E402
from idealrank.judging.files.judgment_pairs import JudgmentPair  # noqa: E402
from idealrank.live.judges.judge_answers import Scale  # noqa: E402
from idealrank.live.judges.label_plan import LabelPlan  # noqa: E402
from idealrank.live.judges.label_store import LabelStore  # noqa: E402
from idealrank.live.web.label_pages import Labelling, label_application  # noqa: E402
from idealrank.store.web.guard import Guard  # noqa: E402
from tests.web import browsing, pages, serving  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import FloatRect, Locator, Page

FOLDER = ROOT / "docs" / "figures" / "gallery"
MOST_BYTES = 150_000  # of a picture
_COLOURS = 256
_WIDE, _PHONE = (1120, 820), (360, 740)
# A page of nothing decodes a picture: no library of pictures is needed.
_PIXELS = """async source => {
  const picture = new Image();
  picture.src = source;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const drawing = canvas.getContext("2d");
  drawing.drawImage(picture, 0, 0);
  const bytes = drawing.getImageData(0, 0, picture.width, picture.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [picture.width, picture.height, btoa(text)];
}"""  # noqa: E501

_MARGIN = 16  # pixels of the page around a part
# Where a part begins and where its text and plots end; its box is as wide as the page.
_EXTENT = """part => {
  const box = part.getBoundingClientRect();
  const range = document.createRange();
  const ends = [...part.querySelectorAll("h1, h2, p, button, summary, table, figure svg")].filter(one => one.checkVisibility()).map(one => {
    range.selectNodeContents(one);
    return (one.matches("table, svg") ? one : range).getBoundingClientRect().right;
  });
  return [box.left + scrollX, box.top + scrollY, Math.max(...ends) - box.left, box.height];
}"""  # noqa: E501

Picture = Callable[[browsing.Visits], bytes]


def _report(visits: browsing.Visits, file: str | None = None, **options: Any) -> "Page":
    return visits.report(
        file or pages.demo(), **{"size": _WIDE, "device_scale_factor": 1.5} | options
    )


def _part(page: "Page", selector: str) -> bytes:
    """A part of a page with a margin, and without the empty space at its right."""
    left, top, width, height = page.locator(selector).evaluate(_EXTENT)
    clip: FloatRect = {
        "x": left - _MARGIN,
        "y": top - _MARGIN,
        "width": width + 2 * _MARGIN,
        "height": height + 2 * _MARGIN,
    }
    # The bar of the measure stays at the top of the window, and would cover rows of a part that is
    # taller.
    style = ".choose { position: static !important; }"
    return page.screenshot(animations="disabled", full_page=True, clip=clip, style=style)


def _section(name: str, **options: Any) -> Picture:
    """One part of the report; a plot is drawn when it comes near."""

    def picture(visits: browsing.Visits) -> bytes:
        page = _report(visits, **options)
        part: Locator = page.locator(f"#{name}")
        part.scroll_into_view_if_needed()
        part.locator("svg.marks, tbody").first.wait_for(state="attached")
        return _part(page, f"#{name}")

    return picture


def _gate(part: str) -> Picture:
    """A part of the report of a closed gate."""
    return lambda visits: _part(_report(visits, file=pages.pull_request()), part)


@cache
def _stored() -> tuple[Path, dict[str, str]]:
    """The store of the served pages, and the newest evaluation of each run; it is written once."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    newest = gallery_store.written(folder)
    return gallery_store.store_of(folder), newest


def _served(path: str, scheme: browsing.Scheme = "light") -> Picture:
    """A page of `idealrank serve`; `path` may name the newest evaluation of a run in braces."""

    def picture(visits: browsing.Visits) -> bytes:
        store, newest = _stored()
        with serving.server(store) as home:
            page = visits._browser.new_context(
                device_scale_factor=1.5, color_scheme=scheme
            ).new_page()
            page.set_viewport_size({"width": _WIDE[0], "height": _WIDE[1]})
            page.goto(home + path.format(**newest))
            taken = page.screenshot(animations="disabled")
            page.context.close()
        return taken

    return picture


def _labelling(visits: browsing.Visits) -> bytes:
    """The page of `idealrank judge ui` after one answer, with the grade of a model."""
    texts = {
        "tempfile.TemporaryFile": "Open a file without a name.\n\nIt is gone as soon as it is "
        "closed.",
        "tempfile.NamedTemporaryFile": "Open a temporary file that has a name in the file "
        "system.\n\n"
        "delete -- whether the file is removed when it is closed (by default it is)\nsuffix "
        "-- end of the name\ndir -- folder of the file",
    }
    pairs = [
        JudgmentPair(
            query="q02",
            document=name,
            query_text="temporary file that deletes itself",
            content=DocumentText(name, text, "https://docs.python.org/3/library/tempfile.html"),
        )
        for name, text in texts.items()
    ]
    words = "0=Not relevant,1=Related,2=Relevant,3=Exactly right"
    plan = LabelPlan(
        pairs=[*pairs, *(JudgmentPair(query="q03", document=f"d{place}") for place in range(58))],
        scale=Scale.of(words),
        model=dict.fromkeys(map(_key, pairs), 2.0),
    )
    with tempfile.TemporaryDirectory() as folder:
        store = LabelStore(f"{folder}/labels.sqlite3", plan, f"{folder}/labels.qrels")
        store.join("Ann")
        store.answer(store.next_pair("Ann") or 0, "Ann", 3.0)
        with serving.serving(label_application(Labelling(store), Guard())) as home:
            page = visits._browser.new_context(device_scale_factor=1.5).new_page()
            page.set_viewport_size({"width": _WIDE[0], "height": 640})
            page.goto(home)
            page.get_by_role("button", name="Ann").click()
            page.locator("#answer").wait_for()
            taken = page.screenshot(animations="disabled")
            page.context.close()
        store.close()
    return taken


def _key(pair: JudgmentPair) -> tuple[str, str]:
    return pair.key


def _top(**options: Any) -> Picture:
    return lambda visits: _report(visits, **options).screenshot(animations="disabled")


PICTURES: dict[str, Picture] = {
    "report-light": _top(),
    "report-dark": _top(scheme="dark"),
    "report-phone": _top(size=_PHONE),
    "report-phone-dark": _top(size=_PHONE, scheme="dark"),
    "query": _top(fragment="#query=q46"),
    "query-phone": _top(fragment="#query=q46", size=_PHONE),
    "scatter": _section("scatter"),
    "winloss": _section("winloss"),
    "distribution": _section("distribution"),
    "cutoffs": _section("cutoffs"),
    "slices": _section("slices"),
    "robust": _section("robust"),
    "queries": _section("queries", fragment="#only=losses&sort=difference"),
    "gate": _gate("section.verdict"),
    "gate-changes": _gate("#changes"),
    "serve-overview": _served("/"),
    "serve-comparison": _served("/compare?a={bm25}&b={minilm}", scheme="dark"),
    "serve-query": _served("/query?run={minilm}&against={bm25}&query=q46"),
    "serve-canaries": _served("/canaries"),
    "judge-ui": _labelling,
    "gate-query": lambda visits: _report(
        visits, pages.pull_request(), fragment="#query=q48"
    ).screenshot(animations="disabled"),
}


def small(width: int, height: int, pixels: bytes) -> bytes:
    """A picture with its most frequent colours; each other one takes the nearest of them."""
    rgb = np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3]
    colours, place, counts = np.unique(
        rgb @ np.array([65536, 256, 1]), return_inverse=True, return_counts=True
    )
    parts = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    palette = parts[np.argsort(-counts, kind="stable")[:_COLOURS]]
    distances = ((parts[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    rows = distances.argmin(axis=1).astype(np.uint8)[place].reshape(height, width)
    # each line begins with its filter: none
    lines = np.concatenate((np.zeros((height, 1), np.uint8), rows), axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts_of_file = {
        b"IHDR": header,
        b"PLTE": palette.astype(np.uint8).tobytes(),
        b"IDAT": zlib.compress(lines.tobytes(), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, parts_of_file, parts_of_file.values()))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@contextmanager
def _visits() -> "Iterator[browsing.Visits]":
    with tempfile.TemporaryDirectory() as folder:
        for browser in browsing.launched():
            visits = browsing.Visits(browser, Path(folder))
            yield visits
            assert not visits.faults, visits.faults
            visits.close()


def main() -> None:
    """Draw all, or those named on the command line."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with _visits() as visits:
        decoder = visits("<!DOCTYPE html><title>decoder</title>")
        for name in sys.argv[1:] or PICTURES:
            taken = base64.b64encode(PICTURES[name](visits)).decode()
            width, height, pixels = decoder.evaluate(_PIXELS, f"data:image/png;base64,{taken}")
            picture = small(width, height, base64.b64decode(pixels))
            assert len(picture) < MOST_BYTES, (
                f"{name}: {len(picture):,} bytes, expected less than {MOST_BYTES:,}"
            )
            (FOLDER / f"{name}.png").write_bytes(picture)
            print(f"{name}.png: {width} x {height}, {len(picture):,} bytes")


if __name__ == "__main__":
    main()
