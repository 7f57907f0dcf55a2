"""`kernpack new`: a project that builds and passes its tests at once, written from the files of project_template/."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kernpack_sdk

_FILES = Path(__file__).resolve().parent / "project_template"
_DOTTED = ("gitignore", "clangd", "clang-format")  # kept without the dot, which would make them this repository's own
_TAKEN = ("kernpack", "kernpack_sdk", "kernpack_compiler", "torch", "jax", "numpy", "cupy", "test", "tests")
_ARCHITECTURES = "\n                    CUDA_ARCHITECTURES 80 90"
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Options:
    """The parts of a new project besides its kernels in C++."""

    cuda: bool = False
    c: bool = False  # the kernel in C99, in place of C++
    python: bool = False

    def layers(self) -> Iterator[Path]:
        """Folders of the template; files of later ones replace those of earlier ones."""
        yield _FILES / "base"
        for wanted, name in ((self.c, "c"), (self.cuda, "cuda"), (self.python, "python")):
            if wanted:
                yield _FILES / name


def package_name(name: str) -> str:
    """The name that Python imports, of one that pip installs. Raises ValueError for what cannot be both."""
    package = re.sub(r"[-.]+", "_", name).lower()
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"'{name}' can't be a project's name: expected letters, digits, '-', '_' and '.', as in fast-norms"
        )
    if keyword.iskeyword(package) or package in _TAKEN or package in sys.stdlib_module_names:
        raise ValueError(
            f"'{name}' would be imported as '{package}', which is taken; choose another name, such as {package}-kernels"
        )
    return package


def write(folder: Path, name: str, options: Options) -> list[Path]:
    """The project's files, in a folder that is new or empty. Raises ValueError or FileExistsError."""
    package = package_name(name)
    if options.c and options.cuda:
        raise ValueError(
            "--c and --cuda don't go together: a module in C writes its table by hand, CUDA sources need C++"
        )
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is there already, and isn't a folder; remove it, or choose another name")
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"the folder {folder} isn't empty; choose another name, or remove it first")
    texts = {target: source for layer in options.layers() for target, source in _sources(layer, package)}
    if options.c:
        texts.pop(Path("src") / f"{package}.cc")
    sources = sorted(target.as_posix() for target in texts if target.suffix in (".c", ".cc", ".cu"))
    words = {
        "my-kernels": name,
        "my_kernels": package,
        "@SDK@": kernpack_sdk.__version__,
        "@SOURCES@": " ".join(sources) + (_ARCHITECTURES if options.cuda else ""),
        "@LANGUAGES@": "C" if options.c else "CXX CUDA" if options.cuda else "CXX",
    }
    for target, source in texts.items():
        text = source.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        (folder / target).write_text(text, encoding="utf-8", newline="\n")
    return sorted(texts)


def _sources(layer: Path, package: str) -> Iterator[tuple[Path, Path]]:
    for source in layer.rglob("*.in"):
        target = source.relative_to(layer).with_suffix("")
        if target.name in _DOTTED:
            target = target.with_name("." + target.name)
        yield Path(*(part.replace("my_kernels", package) for part in target.parts)), source
