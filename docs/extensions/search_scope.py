"""Pages that the search of the site leaves out: records of the project, and tables of simulations.

They have the words of every guide, and would come before them.
"""

from fnmatch import fnmatch

from docutils import nodes
from sphinx.application import Sphinx


def leave_out(app: Sphinx, _doctree: nodes.document) -> None:
    """Mark a page that is read, as `:nosearch:` at its top would."""
    name = app.env.current_document.docname
    if any(fnmatch(name, pattern) for pattern in app.config.search_without):
        app.env.metadata[name]["nosearch"] = ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("search_without", (), "env", types=(tuple, list))
    app.connect("doctree-read", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
