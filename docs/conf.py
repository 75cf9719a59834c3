"""Settings of the documentation. One command builds it: ``python docs/build.py``.

The site needs no network, neither to be built nor to be read: furo brings its own styles and no
remote fonts, and formulas are MathML, which browsers draw by themselves. MathML is made by
docutils, which Sphinx stands on anyway. KaTeX would need a node program at build time and web fonts
beside the pages, imgmath a whole LaTeX: both are heavier than what they would show.
"""

from __future__ import annotations

import sys
from pathlib import Path

import setwise

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "setwise"
author = "The setwise developers"
copyright = "The setwise developers"
release = version = setwise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",  # and those after it: in _extensions
    "method_list",
    "plain_docstrings",
    "command_line",
    "api_pages",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc says what a parameter is, in words
autodoc_default_options = {"members": True, "inherited-members": True}
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
default_role = (
    "py:obj"  # single backticks in docstrings: a link where there is something to link to
)

html_theme = "furo"
html_title = "setwise"
html_static_path = ["_static"]
html_css_files = ["setwise.css"]
html_favicon = "_static/favicon.svg"
html_logo = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0f5c8a",
        "color-brand-content": "#0f5c8a",
        "color-brand-visited": "#0f5c8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4ee",
        "color-brand-content": "#7cc4ee",
        "color-brand-visited": "#7cc4ee",
    },
}
html_math_renderer = "mathml"
pygments_style = "default"
pygments_dark_style = "github-dark"
