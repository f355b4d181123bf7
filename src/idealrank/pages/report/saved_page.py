"""A page as text that saves itself; a notebook shows a link to the file instead of the page."""

from html import escape
from os import PathLike, fspath
from pathlib import PurePath
from urllib.parse import quote

from idealrank._files import write_bytes


class Page(str):
    """Page of results: the HTML as a str, with a method that saves it.

    Made by `report`. A notebook shows one line: a link to the saved file, or how to save it.

    Parameters
    ----------
    html : str
        The whole file.
    path : path, optional
        File that holds it already.

    Attributes
    ----------
    path : str or None
        File that the page was last saved to.

    Examples
    --------
    >>> page = Page("<!DOCTYPE html><p>nDCG@10</p>")
    >>> page
    <idealrank page of 0.1 kB, not saved; page.save("report.html") writes it>
    >>> page.startswith("<!DOCTYPE"), page.html == page
    (True, True)
    """

    __slots__ = ("path",)

    path: str | None

    def __new__(cls, html: str, path: "str | PathLike[str] | None" = None) -> "Page":
        page = super().__new__(cls, html)
        page.path = None if path is None else fspath(path)
        return page

    @property
    def html(self) -> str:
        """The page as a plain str."""
        return str.__str__(self)

    def save(self, path: "str | PathLike[str]") -> "Page":
        """Write the page to a file, which appears only when complete; the page is returned with its
        path.

        Raises
        ------
        InputError
            The file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "report.html")
        >>> page = Page("<!DOCTYPE html>").save(path)
        >>> page.path == str(path), path.read_text(encoding="utf-8")
        (True, '<!DOCTYPE html>')
        """
        write_bytes([self.html.encode()], fspath(path))
        self.path = fspath(path)
        return self

    def __repr__(self) -> str:
        state = 'not saved; page.save("report.html") writes it'
        if self.path:
            state = f"saved as {self.path}"
        return f"<idealrank page of {self._size()}, {state}>"

    def __reduce__(self) -> "tuple[type[Page], tuple[str, str | None]]":
        return type(self), (self.html, self.path)

    def _repr_html_(self) -> str:
        """One line for a notebook."""
        if not self.path:
            return (
                f'<p>Page of {self._size()}, not saved: <code>page.save("report.html")</code> '
                f"writes it.</p>"
            )
        link = quote(PurePath(self.path).as_posix(), safe="/")
        return (
            f'<p>Page of {self._size()}: <a href="{link}" target="_blank" '
            f'rel="noopener">{escape(self.path)}</a></p>'
        )

    def _size(self) -> str:
        kilobytes = max(len(self.encode()) / 1000, 0.1)
        decimals = 0 if kilobytes > 10 else 1
        return f"{kilobytes:,.{decimals}f} kB"
