"""The site: `make docs` builds it, offline and with every warning an error.

Pages are Markdown in get-started/, guides/ (do), concepts/ (understand) and reference/ (look up).
Pages of a feature are in the folder of its name, and in the lists of guides/ and concepts/.
Docstrings make the reference. A page reads well on GitHub, too: what is for the site alone is in
comments, which docs/extensions/site_view.py explains.
"""

import sys
from pathlib import Path

from idealrank import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "idealrank"
author = "idealrank maintainers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_copybutton",
    "accessible",
    "formulas",
    "name_pages",
    "search_scope",
    "site_view",
]
exclude_patterns = ["site", "extensions", "templates"]
templates_path = ["templates"]
html_math_renderer = "mathml"
# Guides answer in a few sentences what these pages record at length.
search_without = (
    "project/*",
    "clicks/click-intervals",
    "clicks/online-looks",
    "concepts/gate-series",
    "concepts/gate-simulation",
    "concepts/mid-p",
    "concepts/rare-losses",
    "concepts/stated-power",
    "concepts/tests-simulated",
    "concepts/too-few-judgments-cells",
)
# `n_queries` in a docstring is an attribute of several classes; it stays plain text
suppress_warnings = ["ref.python"]
default_role = "py:obj"  # `Qrels` in a docstring becomes a link where there is something to link to

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# `$text` and `${NAME}` in prose are no formulas
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "idealrank"
html_favicon = "static/icon.svg"
html_show_copyright = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "header_links_before_dropdown": 4,
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
html_sidebars = {"index": [], "reference/api/**": ["siblings.html"]}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_js_files = [("site.js", {"defer": "defer"})]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False

# `$` and `>>>` are not part of what is typed.
copybutton_prompt_text = r"\$ |>>> |\.\.\. |> "
copybutton_prompt_is_regexp = True
