"""How Sphinx makes the site out of the staged pages (stage.py). Nothing is fetched when a page is opened."""

import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import reference

project = "Kernpack"
author = "the Kernpack authors"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton"]
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
# A namespace stands on each page that adds to it. Annotations of builtins (`type`) also match attributes of that name.
suppress_warnings = ["misc.highlighting_failure", "duplicate_declaration.cpp", "ref.python"]

# The reference: docs/site/reference.py lists what is on its pages.
breathe_projects = {"kernpack": str(Path(__file__).resolve().parents[2] / "build/docs/doxygen")}
breathe_default_project = "kernpack"
breathe_default_members = ("members", "undoc-members")
breathe_domain_by_extension = {"h": "cpp"}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
copybutton_selector = (
    "div:not(.highlight-text):not(.highlight-none):not(.highlight-default) > div.highlight > pre"  # code, no output
)
default_role = "code"  # a docstring's `x`

_CODE = re.compile(r"(`[^`]*`)")
_PARAMETERS = re.compile(r"^(\w+(?:, \w+)*): (?=\S)")


def _plain_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: code in backticks, and a paragraph of `name: what it is` for each parameter, or for several."""
    try:
        parameters = inspect.signature(obj).parameters if what in ("function", "method") else {}
    except ValueError:  # a function in C that tells no signature
        parameters = {}
    shown = []
    in_field = in_code = False
    for line in lines:
        in_code = in_code and (not line or line.startswith("    "))
        if in_code or (line.startswith("    ") and not in_field and shown and not shown[-1]):
            shown += [line] if in_code else ["::", "", line]
            in_code = True
            continue
        named = _PARAMETERS.match(line)
        is_field = bool(named) and all(each in parameters for each in named[1].split(", "))
        if in_field and not is_field and line and not line.startswith(" "):
            shown.append("")  # a list of fields ends at a blank line
        in_field = is_field or (in_field and line.startswith(" "))
        parts = _CODE.split(line)
        line = "".join(part if part.startswith("`") else re.sub(r"([*_|\\])", r"\\\1", part) for part in parts)
        if is_field:
            names, _, text = line.partition(": ")
            line = f":param {names}: {text}"
        shown.append(line)
    lines[:] = shown


_LOCATION = re.compile(r'<location file="([^"]*)" line="(\d+)"')


def _mend_xml(app):
    folder = Path(breathe_projects["kernpack"])

    def place(name):
        *_, (file, line) = _LOCATION.findall(
            (folder / f"{name}.xml").read_text(encoding="utf-8")
        )  # its own is the last
        return file, int(line)

    for file in folder.glob("*.xml"):
        text = file.read_text(encoding="utf-8")
        mended = reference.plain_uses(reference.spell_includes(text))
        if file.name.startswith("namespace"):
            mended = reference.in_source_order(mended, place)
        if mended != text:
            file.write_text(mended, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", _mend_xml)
    app.connect("autodoc-process-docstring", _plain_text)
