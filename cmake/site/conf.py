"""Sphinx's settings for the site; scripts/docs.sh calls it."""

import os

project = "coir"
version = release = os.environ["COIR_VERSION"]
extensions = ["myst_parser"]

html_theme = "furo"
html_title = f"coir {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

myst_heading_anchors = 4
