"""Programs that are frozen into a folder, without options, as programs with NumPy are."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import kernpack
import pytest
from deployed import PYTHON, environment, run, works
from kernpack import _freeze
from support.wheel_libraries import distribution, library, note

# Further packages of this environment that a tool would collect: kernpack serves these, and a program that doesn't import them needs none.
OTHERS = "numpy,torch,jax,jaxlib,ml_dtypes,kernpack_sdk"


@pytest.fixture
def program(site: Path, tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text("import uses\nuses.main()\n")
    return file


def _runs_without_python(file: Path, home: Path) -> None:
    works([file], {"HOME": str(home)})  # neither PYTHONPATH nor PATH


def test_pyinstaller(site: Path, program: Path, tmp_path: Path) -> None:
    home = environment(PYTHONPATH=str(site), HOME=str(tmp_path), KERNPACK_CACHE_DIR=str(tmp_path / "cache"))
    done = run([PYTHON, "-m", "PyInstaller", "--log-level=WARN", program], home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _runs_without_python(tmp_path / "dist/program/program", tmp_path)
    held = {file.name for file in (tmp_path / "dist/program").rglob("*")}
    assert held.isdisjoint(OTHERS.split(",")), held


def test_cx_freeze(site: Path, program: Path, tmp_path: Path) -> None:
    home = environment(PYTHONPATH=str(site), HOME=str(tmp_path))
    words = ["build", "--script=program.py", f"--build-exe={tmp_path}/built", f"--excludes={OTHERS}"]
    done = run([PYTHON, "-m", "cx_Freeze", *words], home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _runs_without_python(tmp_path / "built/program", tmp_path)


def test_a_package_that_was_not_frozen_too_is_named_with_the_option_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    with pytest.raises(
        ImportError, match=r"'absent' isn't part of this frozen program; .* --hidden-import=absent for PyInst"
    ):
        kernpack.load("absent")


def test_a_hook_is_written_for_each_kernel_package_also_where_no_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_freeze, "installed", lambda: {"a-name": "a_package", "other": "deep.package"})
    for cache in (str(tmp_path / "cache"), "/dev/null/cache"):
        monkeypatch.setenv("KERNPACK_CACHE_DIR", cache)
        ours, written = map(Path, _freeze.hook_dirs())
        assert [file.name for file in ours.glob("*.py")] == ["hook-kernpack.py"]
        assert {file.name for file in written.iterdir()} == {"hook-a_package.py", "hook-deep.package.py"}


NEEDY = """
NOTE
static const volatile char kPacks[] = "kernpack.packs.1\\nsm_80 PRESENT needy-cu-sm80==1.0\\nsm_90 ABSENT needy-cu-sm90==1.0\\n";
extern "C" int foo_answer();
static int64_t Answer() { return foo_answer() - (kPacks[0] == 0); }
KP_MODULE("needy", "1.0");
KP_EXPORT(answer, Answer);
"""


def test_code_of_split_wheels_and_libraries_of_other_wheels_are_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = library(tmp_path / "foo" / "lib" / "libfoo.so.1")
    further = library(lies.with_name("libfoo_further.so"))
    library(lies.with_name("libbar.so"))  # of no wheel
    distribution(tmp_path, "foo", "2.0")
    (tmp_path / "foo-2.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: foo\nVersion: 2.0\n")
    (tmp_path / "foo-2.0.dist-info" / "RECORD").write_text(f"foo/lib/{lies.name},,\nfoo/lib/{further.name},,\n")
    code = tmp_path / "kernpack_device_code" / f"{'a' * 64}.fatbin"
    code.parent.mkdir()
    code.touch()
    monkeypatch.syspath_prepend(tmp_path)
    source = NEEDY.replace("NOTE", note(("libfoo.so.1", "foo>=2,<3", "foo/lib"))).replace("PRESENT", "a" * 64)
    module = kernpack.load_inline(source.replace("ABSENT", "b" * 64), extra_ldflags=[str(lies)])
    assert module.answer() == 42
    (tmp_path / "needy").mkdir()
    shutil.copy(module.path or "", tmp_path / "needy/needy.so")
    (tmp_path / "needy/__init__.py").touch()
    asked = (
        "import json, PyInstaller.__main__, kernpack._freeze.package as it; print(json.dumps(it.collected('needy')))"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(kernpack.__file__).parents[1])])
    done = run([PYTHON, "-c", asked], environment(PYTHONPATH=path, HOME=str(tmp_path)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    datas, binaries = json.loads(done.stdout)
    assert datas == [[str(code), "kernpack_device_code"]]
    assert sorted(binaries) == sorted(
        [
            [str(tmp_path / "needy/needy.so"), "needy"],
            [str(lies), "foo/lib"],
            [str(further), "foo/lib"],
        ]
    )


def test_devices_are_found_where_the_host_library_is_opened_by_a_link(tmp_path: Path) -> None:
    """PyInstaller puts a link to it into the folder of the program, in which LD_LIBRARY_PATH has the dynamic linker look first."""
    there = Path(kernpack.__file__).with_name("libkernpack.so")
    (tmp_path / there.name).symlink_to(there)
    asked = "from kernpack import _core; print(_core.backend_info(True)); print(open('/proc/self/maps').read())"
    home = environment(
        PYTHONPATH=str(there.parents[1]), LD_LIBRARY_PATH=str(tmp_path), KERNPACK_CACHE_DIR=str(tmp_path)
    )
    found, _, maps = run([PYTHON, "-c", asked], home).stdout.partition("\n")
    assert str(there) in maps
    paths = [each["path"] for each in json.loads(found)]
    assert {str(there.with_name(f"libkernpack_{name}.so")) for name in ("cuda", "opencl")} <= set(paths)
