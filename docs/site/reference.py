"""The reference: a page per group of headers (doxygen, breathe), per Python package (autodoc) and of the command `kernpack`.

Every public header is on one page. What a header's first comment says stands above its declarations."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import doc_comments

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = {"ffi": ROOT / "ffi/include/kernpack", "sdk": ROOT / "sdk/include/kernpack/sdk"}

# Page, title, headers by the folder above. A name that ends in a slash: all of that folder.
CXX = [
    ("cpp_values", "C++ for kernels: values", "ffi",
     "tensor_view tensor span accessor contiguous shape string array map any function dtype half float8 float8_bits format device"),
    ("cpp_modules", "C++ for kernels: modules and services", "ffi",
     "export module class error log text dispatch parallel atomic random stream storage workspace device_kernel device_source device_code cuda cuda_types"),
    ("cpp_torch", "C++ on libtorch", "ffi", "torch"),
    ("cpp_dlpack", "DLPack's own header", "ffi", "dlpack"),
    ("c_host", "C API of the host", "ffi", "host/"),
    ("c_abi", "The ABI's header", "ffi", "abi dtype_table"),
    ("c_backend", "C API of device backends", "ffi", "device_api"),
    ("sdk_target", "SDK: targets and devices", "sdk",
     "target target_kind target_tag target_match target_value virtual_device compilation_config device_api device_backend object"),
    ("sdk_ir", "SDK: the IR", "sdk", "ir/"),
    ("sdk_schedule", "SDK: schedules", "sdk", "schedule/"),
    ("sdk_codegen", "SDK: generators", "sdk", "codegen/"),
    ("sdk_program", "SDK: programs", "sdk", "program/"),
]  # fmt: skip
# Headers that kernel authors and embedders don't include: parts of the headers above.
BEHIND = {
    "ffi": "alias call call_device compact config device_service fit fit_mark float_limits glibc_compat glue guard instance kernel library_table loaded object on_devices service small_float small_float_bits typed_view value_names",
    "sdk": "",
}
PYTHON = [
    "kernpack",
    "kernpack.storage",
    "kernpack.torch",
    "kernpack.jax",
    "kernpack_kernels.torch",
    "kernpack_kernels.torch.functional",
    "kernpack_kernels.torch.nn",
    "kernpack_kernels.jax",
    "kernpack_sdk",
    "kernpack_sdk.testing",
    "kernpack_compiler",
    "kernpack_compiler.ir",
    "kernpack_compiler.lang",
    "kernpack_compiler.program",
]


def headers(side: str, names: str) -> list[Path]:
    found: list[Path] = []
    for name in names.split():
        found += sorted((INCLUDE[side] / name).glob("*.h")) if name.endswith("/") else [INCLUDE[side] / f"{name}.h"]
    return found


def missing() -> list[str]:
    """Public headers that are on no page."""
    listed = {file for _, _, side, names in CXX for file in headers(side, names)}
    listed |= {file for side, names in BEHIND.items() for file in headers(side, names)}
    inner = {INCLUDE["ffi"] / "signature", INCLUDE["ffi"] / "foreign"}
    public = {file for folder in INCLUDE.values() for file in folder.rglob("*.h") if file.parent not in inner}
    return sorted(str(file.relative_to(ROOT)) for file in public ^ listed)


def _include(file: Path) -> str:
    """kernpack/host/target.h"""
    return str(file).partition("/include/")[2]


def _flat(file: Path) -> str:
    """Several headers have one name in different folders, and breathe tells files apart by name alone."""
    return _include(file).replace("/", ".")


def spell_includes(xml: str) -> str:
    """Doxygen's description of a class, with the header's name as one includes it: kernpack/host/target.h."""
    return re.sub(r"(<includes\b[^>]*>)([\w.]+)\.h<", lambda found: f"{found[1]}{found[2].replace('.', '/')}.h<", xml)


def plain_uses(xml: str) -> str:
    """Doxygen's description with lines of use as the header has them: doxygen puts a star in front of each."""

    def lines(found: re.Match[str]) -> str:
        return "<verbatim>" + re.sub(r"^ ?\* ?", "", found[1], flags=re.MULTILINE).strip("\n ") + "</verbatim>"

    return re.sub(r"<verbatim>(.*?)</verbatim>", lines, xml, flags=re.DOTALL)


def in_source_order(xml: str, place: Callable[[str], tuple[str, int]]) -> str:
    """A namespace's description with its classes in the order of their headers, which doxygen sorts by name. place: header and line
    of the class whose description has that name."""
    inner = re.compile(r' *<innerclass refid="([^"]+)".*</innerclass>\n')
    lines = [found[0] for found in inner.finditer(xml)]
    ordered = iter(sorted(lines, key=lambda line: place(inner.match(line)[1])))
    return inner.sub(lambda _: next(ordered), xml)


def _plain(line: str) -> str:
    """A line of a comment as Markdown shows it as it is: only what stands in backticks is markup."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([\\<>*_\[\]|#])", r"\\\1", part) for part in parts)


def first_comment(header: str) -> str:
    """The comment of a header about itself, above its include guard. Indented lines are code."""
    text = header.partition("#ifndef")[0].strip()
    if text.startswith("/*"):
        lines = [re.sub(r"^ \* ?", "", line) for line in text[2:].rstrip("*/").rstrip().splitlines()]
        lines[0] = lines[0].removeprefix(" ")
    else:
        lines = [re.sub(r"^// ?", "", line) for line in text.splitlines()]
    shown: list[str] = []
    code = False
    for line in lines:
        indented = line.startswith("  ")
        if indented != code and (line or not code):
            shown += ["```text", ""][:1] if indented else ["```", ""]
            code = indented
        shown.append(line if indented else _plain(line))
    return "\n".join([*shown, "```"] if code else shown)


def cxx_page(title: str, side: str, names: str) -> str:
    lines = [f"# {title}", ""]
    for file in headers(side, names):
        lines += [f"## `{_include(file)}`", "", first_comment(file.read_text(encoding="utf-8")), ""]
        lines += ["```{eval-rst}", f".. doxygenfile:: {_flat(file)}", "```", ""]
    return "\n".join(lines)


def lacking(name: str) -> str | None:
    """The package without which a module can't be imported here; None where it can."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        return error.name
    return None


def python_page(name: str) -> str:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", "").startswith(name.split(".")[0])
    ]
    lines = [
        f"# Python: {name}",
        "",
        inspect.getdoc(module) or "",
        "",
        "```{eval-rst}",
        f".. py:currentmodule:: {name}",
        "",
    ]
    for key in sorted(public):
        value = getattr(module, key)
        if inspect.ismodule(value):
            continue
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: {name}.{key}"]
        lines += (
            ["   :members:", "   :undoc-members:", "   :inherited-members: BaseException, RuntimeError, Module, object"]
            if kind == "class"
            else []
        )
        lines.append("")
    return "\n".join([*lines, "```", ""])


def _help(*command: str) -> str:
    environment = {**os.environ, "COLUMNS": "88", "NO_COLOR": "1"}
    run = [sys.executable, "-m", "kernpack_sdk", *command, "--help"]
    return subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout.rstrip()


def command_page() -> str:
    whole = _help()
    lines = [
        "# The command `kernpack`",
        "",
        "[The command](../command.md) tells how it is used.",
        "",
        "```text",
        whole,
        "```",
        "",
    ]
    for name in re.findall(r"^  ([a-z]+)  ", whole.partition("Commands:")[2], re.MULTILINE):
        lines += [f"## `kernpack {name}`", "", "```text", _help(name), "```", ""]
    return "\n".join(lines)


def convert(folder: Path) -> None:
    """The headers as doxygen reads them."""
    folder.mkdir(parents=True)
    for _, _, side, names in CXX:
        for file in headers(side, names):
            (folder / _flat(file)).write_text(
                doc_comments.converted(file.read_text(encoding="utf-8")), encoding="utf-8"
            )


def _contents(titles: dict[str, str]) -> str:
    return "\n".join(f"- [{title}](reference/{page}.md)" for page, title in titles.items())


def write(folder: Path) -> list[tuple[str, str, list[str]]]:
    """Writes the pages; returns the parts of the navigation: their titles, texts and pages."""
    if unlisted := missing():
        raise SystemExit(f"docs/site/reference.py: no page has, or there isn't: {', '.join(unlisted)}")
    folder.mkdir(parents=True)
    native = {}
    for name, title, side, names in CXX:
        (folder / f"{name}.md").write_text(cxx_page(title, side, names), encoding="utf-8")
        native[name] = title
    python = {}
    for name in PYTHON:
        if package := lacking(name):
            print(f"left out: the reference of {name}, because {package} isn't installed (make test installs all)")
            continue
        page = name.replace(".", "_")
        (folder / f"{page}.md").write_text(python_page(name), encoding="utf-8")
        python[page] = f"`{name}`"
    if not lacking("kernpack_sdk"):
        (folder / "command.md").write_text(command_page(), encoding="utf-8")
        python["command"] = "the command `kernpack`"
    return [
        ("Python reference", f"The packages, and the command:\n\n{_contents(python)}", list(python)),
        (
            "C and C++ reference",
            "The public headers. Kernel authors need the first two pages, in this order; "
            f"[the kernel author's reference](kernel.md) introduces them.\n\n{_contents(native)}",
            list(native),
        ),
    ]
