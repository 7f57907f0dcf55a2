"""The modules of a rehearsal: one source in each language, compiled against the headers of a version."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path

from rehearsal.trees import ROOT, Tree, write_if_new

_SRC = Path(__file__).parent / "src"
_GOLDEN = ROOT / "tests" / "abi" / "golden" / "1.0"
_FLAGS = ("-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-Wall", "-Wno-missing-field-initializers")
_LANGUAGES = {
    "c": ("gcc", "-std=c99", _SRC / "module.c"),
    "cxx": ("g++", "-std=c++17", "-fno-gnu-unique", _SRC / "module.cc"),
    "generated": ("gcc", "-std=c11", _GOLDEN / "generated.c.txt"),
    "backend": ("gcc", "-std=c99", _GOLDEN / "backend.c"),
}


@dataclasses.dataclass(frozen=True)
class Module:
    """What is built: for which ABI, in which language, and which of the news it uses."""

    version: str  # of the headers
    language: str  # "c", "cxx", "generated", "backend"
    news: str = ""  # REHEARSAL_<...> macros, separated by "+"

    @property
    def name(self) -> str:
        return "-".join((self.version, self.language, *filter(None, [self.news.replace("+", "-").lower()])))


def build(module: Module, tree: Tree, folder: Path) -> Path:
    """Compiles a module; through ccache where there is one."""
    compiler, *flags, template = _LANGUAGES[module.language]
    out = folder / f"{module.name}.so"
    out.parent.mkdir(parents=True, exist_ok=True)
    source = out.with_suffix(".cc" if module.language == "cxx" else ".c")
    # What the edits of a new major do to the text that the generator writes.
    text = template.read_text().replace("kp_module_v1", f"kp_module_v{tree.major}")
    write_if_new(source, text.encode())
    object_file = out.with_suffix(".o")
    launcher = ["ccache"] if shutil.which("ccache") else []
    macros = [f"-DREHEARSAL_{word}" for word in module.news.split("+") if word]
    compile_only = [*launcher, compiler, *flags, *_FLAGS[1:], *macros, f"-I{tree.include}", "-c", str(source)]
    for command in ([*compile_only, "-o", str(object_file)], [compiler, "-shared", str(object_file), "-o", str(out)]):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise RuntimeError(f"{module.name}: {' '.join(command)}\n{ran.stderr[-4000:]}")
    return out
