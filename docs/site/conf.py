"""How Sphinx makes the site out of the staged pages (stage.py). Nothing is fetched when a page is opened."""

project = "Kernpack"
author = "the Kernpack authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Kernpack"
html_show_copyright = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
# Texts of the IR and of programs have no lexer of their own; a grammar that is only like EBNF is shown plain.
suppress_warnings = ["misc.highlighting_failure"]
