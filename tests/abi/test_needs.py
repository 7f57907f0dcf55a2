"""Libraries of other wheels that a module needs are found as NVIDIA's own packages find them, and opened before the module."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import host
from support.wheel_libraries import distribution, library, note

SETTLED = 2.5  # seconds after which a file's times tell every later change
CUBLAS = ("nvidia/cu13/lib", "libcublas.so.13")
FOO = ("libfoo.so.1", "foo>=2,<3", "foo/lib")

LOAD = """
import ctypes, json, os, sys
sys.path.insert(0, sys.argv[1])
from support import host
given = json.loads(sys.argv[2])
for path in given["first"]:
    ctypes.CDLL(path)
folders = (ctypes.c_char_p * len(given["folders"]))(*map(os.fsencode, given["folders"]))
host.check(host.lib().kp_library_folders(folders, len(folders)))
try:
    host.load(given["module"], probe=given["probe"])
except host.Raised as error:
    print(json.dumps({"error": error.message, "kind": error.kind}))
else:
    value = host.Any()
    host.check(host.lib().kp_module_files(ctypes.byref(value)))
    (file,) = json.loads(host.get_text(value))
    seen = [name for name in ("cublas_answer", "foo_answer") if hasattr(ctypes.CDLL(None), name)]
    print(json.dumps({"needs": {each["library"]: each["path"] for each in file["needs"]}, "global": seen}))
"""

Compile = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


@pytest.fixture
def linked(compile_fake: Compile, tmp_path: Path) -> Callable[..., Path]:
    """linked("libfoo.so.1", ...): a module that needs these, none of which is there yet; code= is compiled into it."""

    def run(*names: str, code: str = "", flags: tuple[str, ...] = ()) -> Path:
        stubs = [library(tmp_path / "stubs" / name) for name in names]
        (tmp_path / "note.c").write_text(code)
        made = compile_fake("needy", str(tmp_path / "note.c"), "-Wl,--no-as-needed", *map(str, stubs), *flags)
        for stub in stubs:
            stub.unlink()
        return made

    return run


def load(module: Path, *folders: Path, first: tuple[Path, ...] = (), probe: bool = False, **environment: str):
    """The result of loading it in a process of its own."""
    given = {"module": str(module), "folders": list(map(str, folders)), "first": list(map(str, first)), "probe": probe}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(host.ROOT / "tests"), json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ) | {"KERNPACK_CACHE_DIR": str(module.parent / "cache")} | environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_library_of_nvidias_wheel_is_found(linked, site: Path, tmp_path: Path) -> None:
    module = linked("libcublas.so.13")
    lies = library(site.joinpath(*CUBLAS))
    time.sleep(SETTLED)
    for _ in ("read", "known"):
        assert load(module, site) == {"needs": {"libcublas.so.13": str(lies)}, "global": []}
        assert len(list((tmp_path / "cache" / "modules" / "index").iterdir())) == 1
    assert load(module, site, probe=True)["needs"], "in a child process first"


def test_the_folder_that_the_module_is_installed_in_comes_first(linked, site: Path, tmp_path: Path) -> None:
    own = tmp_path / "env" / "site-packages"
    (own / "pkg").mkdir(parents=True)
    module = linked("libcublas.so.13").rename(own / "pkg" / "needy.so")
    library(site.joinpath(*CUBLAS))
    lies = library(own.joinpath(*CUBLAS))
    assert load(module)["needs"] == load(module, site)["needs"] == {"libcublas.so.13": str(lies)}


@pytest.mark.parametrize(
    ("variable", "folder"), [("CONDA_PREFIX", "lib"), ("CUDA_HOME", "lib64"), ("CUDA_PATH", "lib")]
)
def test_conda_and_nvidias_toolkit(linked, tmp_path: Path, variable: str, folder: str) -> None:
    lies = library(tmp_path / "home" / folder / "libcublas.so.13")
    found = load(linked("libcublas.so.13"), **{variable: str(tmp_path / "home")})
    assert found["needs"] == {"libcublas.so.13": str(lies)}


def test_a_library_that_the_process_has_is_taken(linked, site: Path, tmp_path: Path) -> None:
    library(site.joinpath(*CUBLAS))
    first = library(tmp_path / "torch" / "libcublas.so.13")
    assert load(linked("libcublas.so.13"), site, first=(first,))["needs"] == {"libcublas.so.13": str(first)}


def test_a_missing_library_says_what_to_install(linked, site: Path) -> None:
    module = linked("libcublas.so.13")
    found = load(module, site)
    assert found["kind"] == "ImportError"
    assert found["error"].startswith(
        f"kernpack.load: '{module}' needs libcublas.so.13, which isn't installed: pip install \"nvidia-cublas>=13,<14\". Looked in 1 "
    )
    other = library(site / "nvidia" / "cublas" / "lib" / "libcublas.so.12")
    assert f"; '{other}' is another version, which can't stand in for it." in load(module, site)["error"]
    assert f"'{other}' is another" in load(module, first=(other,))["error"]


def test_one_error_names_all_missing_libraries(linked, site: Path) -> None:
    foo = library(site / "foo" / "lib" / "libfoo.so.1")
    libraries = ("libcublas.so.13", "libcublasLt.so.13", "libfoo.so.1", "libcudnn.so.9", "libgone.so.1")
    module = linked(*libraries, code=note(FOO, ("libgone.so.1", "gone>=1", "gone/lib")))
    assert (
        'needs libcublas.so.13, which isn\'t installed: pip install "nvidia-cublas>=13,<14" "nvidia-cudnn-cu13>=9,<10" '
        '"gone>=1"; the module also needs libcublasLt.so.13, libcudnn.so.9, libgone.so.1, not installed either. Looked'
    ) in load(module, site)["error"]
    foo.unlink()
    assert '"nvidia-cublas>=13,<14" "foo>=2,<3" "nvidia' in load(module, site)["error"]
    alike = load(linked("libcudnn.so.9", "libnccl.so.2"), site)["error"]
    assert (
        'pip install "nvidia-cudnn-cu13>=9,<10" "nvidia-nccl-cu13>=2,<3", or pip install "nvidia-cudnn-cu12>=9,<10" '
        '"nvidia-nccl-cu12>=2,<3", by the version of CUDA; the module also needs libnccl.so.2, not installed'
    ) in alike


def test_libraries_that_are_called_alike_for_two_versions_of_cuda(linked, site: Path) -> None:
    alone = load(linked("libcurand.so.10"), site)["error"]
    assert 'pip install "nvidia-curand>=10,<11", or pip install "nvidia-curand-cu12>=10,<11", by the version' in alone
    library(site / "nvidia" / "cublas" / "lib" / "libcublas.so.12")
    beside = load(linked("libcublas.so.12", "libcurand.so.10"), site)["error"]
    assert 'isn\'t installed: pip install "nvidia-curand-cu12>=10,<11". Looked' in beside


def test_a_library_of_any_wheel_by_the_note_of_the_module(linked, site: Path) -> None:
    module = linked("libfoo.so.1", code=note(FOO))
    assert 'needs libfoo.so.1, which isn\'t installed: pip install "foo>=2,<3".' in load(module, site)["error"]
    lies = library(site / "foo" / "lib" / "libfoo.so.1")
    assert load(module, site)["needs"] == {"libfoo.so.1": str(lies)}
    distribution(site, "foo", "1.9.post1")
    assert (
        f"needs libfoo.so.1 of foo>=2,<3, but what is installed is foo 1.9.post1 ('{lies}'): pip install \"foo>=2,<3\""
        in load(module, site)["error"]
    )
    assert "but this process has loaded that of foo 1.9.post1" in load(module, site, first=(lies,))["error"]
    (site / "foo-1.9.post1.dist-info").rename(site / "foo-2.0.1.dist-info")
    assert load(module, site)["needs"] == {"libfoo.so.1": str(lies)}


def test_versions_are_compared(linked, site: Path) -> None:
    library(site / "foo" / "lib" / "libfoo.so.1")
    for requirement, fitting, others in (
        ("foo >= 2.1.0, < 3", ["2.1", "2.9.post1"], ["2.0.9", "3.0"]),
        ("foo>2.1", [], ["2.1.0"]),
        ("foo<=2.1,==2.*", ["2.1.0"], ["2.1.1"]),
        ("foo==2.1", ["2.1.0"], ["2"]),
    ):
        module = linked("libfoo.so.1", code=note(("libfoo.so.1", requirement, "foo/lib")))
        for version in fitting + others:
            distribution(site, "foo", version)
            assert ("needs" in load(module, site)) == (version in fitting), (requirement, version)
            (site / f"foo-{version}.dist-info").rmdir()


def test_libraries_that_need_libraries(linked, site: Path) -> None:
    bar = library(site / "bar" / "lib" / "libbar.so.1")
    code = note(("libbar.so.1", "bar>=1", "bar/lib"))
    foo = library(site / "foo" / "lib" / "libfoo.so.1", code, links=[bar])
    module = linked("libfoo.so.1", code=note(FOO))
    assert load(module, site)["needs"] == {"libbar.so.1": str(bar), "libfoo.so.1": str(foo)}
    bar.unlink()
    missing = load(module, site)["error"]
    assert (
        "can't be loaded: libfoo.so.1, which it needs, needs libbar.so.1, which isn't installed: pip install" in missing
    )


def test_a_cycle_is_named(linked, site: Path, tmp_path: Path) -> None:
    stub = library(tmp_path / "stubs" / "libfoo.so.1")
    bar = library(site / "bar" / "lib" / "libbar.so.1", note(FOO), links=[stub])
    library(site / "foo" / "lib" / "libfoo.so.1", note(("libbar.so.1", "bar>=1", "bar/lib")), links=[bar])
    found = load(linked("libfoo.so.1", code=note(FOO)), site)
    assert "needs libraries that need each other, libfoo.so.1 -> libbar.so.1 -> libfoo.so.1, so" in found["error"]


def test_a_library_of_another_architecture_or_name_is_refused(linked, site: Path) -> None:
    module = linked("libfoo.so.1", code=note(FOO))
    lies = library(site / "foo" / "lib" / "libfoo.so.1")
    content = bytearray(lies.read_bytes())
    other = 183 if content[18:20] == b"\x3e\x00" else 62  # e_machine: aarch64, x86-64
    content[18:20] = other.to_bytes(2, "little")
    lies.write_bytes(content)
    found = load(module, site)["error"]
    assert f"needs libfoo.so.1, and '{lies}' is built for " in found
    assert "install the build for this machine" in found
    lies.write_bytes(library(lies).read_bytes()[:100])
    assert "is truncated or damaged" in load(module, site)["error"]
    library(lies, soname="libfoo.so.2")
    assert f"'{lies}', calls itself libfoo.so.2 (its SONAME)" in load(module, site)["error"]


def test_a_module_with_a_run_path_is_left_to_the_dynamic_linker(linked, site: Path) -> None:
    library(site / "own" / "libcublas.so.13")
    module = linked("libcublas.so.13", flags=(f"-Wl,-rpath,{site / 'own'}",))
    assert load(module)["needs"] == {}
    assert "needs" in load(module, site)


def test_rows_of_a_note_that_say_nothing_useful_are_passed_over(linked, site: Path) -> None:
    library(site / "foo" / "lib" / "libfoo.so.1")
    requirement = "foo>=2,<3"
    folders = [("libfoo.so.1", requirement, folder) for folder in ("../site/foo/lib", str(site / "foo/lib"), "")]
    others = [("libfoo.so.1", "", "foo/lib"), ("libfoo.so.1", requirement), ("x/libfoo.so.1", *FOO[1:]), ("",)]
    found = load(linked("libfoo.so.1", code=note(*folders, *others)), site)
    assert "the dynamic linker refuses" in found["error"]


def test_sizes_in_a_note_that_lead_out_of_the_file(linked, site: Path) -> None:
    module = linked("libfoo.so.1", code=note(FOO))
    content = module.read_bytes()
    at = content.index(b"Kernpack\0") - 12
    for field, size in ((0, 0xFFFFFFFF), (4, 0xFFFFFFF0), (0, 0), (4, 0)):
        broken = bytearray(content)
        broken[at + field : at + field + 4] = size.to_bytes(4, "little")
        module.write_bytes(broken)
        assert load(module, site)["kind"] == "ImportError"


def test_folders_are_checked() -> None:
    with pytest.raises(
        host.Raised, match=r"ValueError: kp_library_folders: expected folders and how many they are, got -1"
    ):
        host.check(host.lib().kp_library_folders(None, ctypes.c_int32(-1)))
    with pytest.raises(host.Raised, match=r"got 3 of NULL"):
        host.check(host.lib().kp_library_folders(None, ctypes.c_int32(3)))
