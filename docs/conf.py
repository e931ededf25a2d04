"""Settings of the documentation site. `make docs` builds it: see scripts/build_site.py."""

from importlib.metadata import version as version_of
from typing import Any

from sphinx.ext.napoleon import Config, NumpyDocstring

project = "forebay"
author = copyright = "The forebay developers"
release = version = version_of("forebay")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["conf.py"]
myst_heading_anchors = 4  # links to headings, named as GitHub names them

html_theme = "furo"  # brings its own styles and the reader's own fonts: nothing is loaded from the network
html_title = f"forebay {release}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "separated"  # what a class is made from shows as its attributes

nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!forebay\.).*"),  # of other packages: their pages are on the network
    # Not public: see reference/stability.md.
    ("py:class", r"forebay\.(core|_run|_bounds|_fidelity|_predict|engine)\..*"),
    ("py:class", r"forebay\.platforms\.(tiers|topologies|fabric|atoms)\..*"),
    ("py:class", r"forebay\.platforms\.partitions\.Change"),  # given as a table
    ("py:class", r"forebay\.platforms\._declared\..*"),  # the same
    ("py:class", r"forebay\.experiments\..*"),  # forebay.compare and others make them
    ("py:class", r"forebay\.explain\.answer\.(explained|worst)\..*"),  # of an Explanation
    ("py:class", r"forebay\.metrics\._metric\..*"),  # of forebay.metric
    ("py:class", r"forebay\._support\.paper\.Table"),  # forebay.report.table makes it
    ("py:class", r"forebay\.results\._records\.Record"),  # what a sweep is made of
]


def _sections(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Read the sections of numpydoc; those of attributes have none, and Sphinx would take a colon for their type."""
    if what not in ("attribute", "data", "property"):
        lines[:] = NumpyDocstring(lines, Config(napoleon_use_rtype=False), app, what, name, obj, options).lines()


def setup(app: Any) -> None:
    """Sphinx calls this once."""
    app.connect("autodoc-process-docstring", _sections)
