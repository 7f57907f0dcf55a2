"""kernpack.load of sources: several files, header tracking, torch's option names, reload, and what is said of mistakes."""

from __future__ import annotations

import shutil
from pathlib import Path

import kernpack
import numpy as np
import pytest
from support import caches

HEAD = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
LOOP = "for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] ="
TAKES = "(kp::TensorView x, kp::MutTensorView out)"
CONTRACT = '"(x: f32[N]) -> (out: f32[N])"'
ONE = np.ones(3, np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sources and a header, in a folder with a space and an umlaut."""
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(caches.with_support(tmp_path / "cache")))
    made = tmp_path / "my kérnels"
    (made / "include").mkdir(parents=True)
    (made / "include/add.h").write_text("#define ADD 1\n")
    (made / "main.cc").write_text(
        f'{HEAD}#include "add.h"\nvoid Scale{TAKES};\nvoid Add{TAKES} {{ {LOOP} x.data_ptr<float>()[i] + ADD; }}\n'
        f'KP_MODULE("two", "1.0.0");\nKP_EXPORT(add, Add, {CONTRACT});\nKP_EXPORT(scale, Scale, {CONTRACT});'  # no last newline
    )
    (made / "scale.cpp").write_text(f"{HEAD}void Scale{TAKES} {{ {LOOP} x.data_ptr<float>()[i] * FACTOR; }}")
    return made


def _load(folder: Path, factor: int = 3) -> kernpack.Module:
    files = [folder / "main.cc", folder / "scale.cpp"]
    return kernpack.load(files, extra_cflags=[f"-DFACTOR={factor}"], extra_include_paths=[folder / "include"])


def test_several_files_are_one_module(folder: Path) -> None:
    k = _load(folder)
    assert (k.add(ONE) == 2).all()
    assert (k.scale(ONE) == 3).all()
    assert _load(folder).path == k.path
    assert (_load(folder, 4).scale(ONE) == 4).all()


def test_a_changed_header_is_seen(folder: Path) -> None:
    k = _load(folder)
    (folder / "include/add.h").write_text("#define ADD 7\n")
    assert (_load(folder).add(ONE) == 8).all()
    assert (k.add(ONE) == 2).all()  # what was loaded stays as it is


def test_reload_compiles_what_changed_and_keeps_the_old_functions(folder: Path) -> None:
    k = _load(folder)
    old = k.add
    (folder / "include/add.h").write_text("#define ADD 7\n")
    assert kernpack.reload(k) is k
    assert (k.add(ONE) == 8).all()
    assert (old(ONE) == 2).all()
    (folder / "include/add.h").write_text("#define ADD +* 7\n")
    with pytest.raises(RuntimeError, match=r"kernpack\.load: g\+\+ failed"):
        kernpack.reload(k)
    assert (k.add(ONE) == 8).all()


def test_reload_of_a_built_file(folder: Path, tmp_path: Path) -> None:
    built = tmp_path / "built.so"
    shutil.copy(_load(folder, 3).path, built)
    k = kernpack.load(built)
    digest, old = k.digest, k.scale
    shutil.copy(_load(folder, 4).path, built)
    kernpack.reload(k)
    assert k.digest != digest
    assert (k.scale(ONE) == 4).all()
    assert (old(ONE) == 3).all()
    with pytest.raises(
        TypeError, match=r"^kernpack\.reload: expected a module that kernpack\.load returned, .* got str$"
    ):
        kernpack.reload("built")  # type: ignore[type-var]


def test_c_and_cplusplus_together(folder: Path) -> None:
    (folder / "half.c").write_text("float Half(float x) { return x / 2; }\n")
    (folder / "half.cc").write_text(
        f'{HEAD}extern "C" float Half(float x);\nvoid F{TAKES} {{ {LOOP} Half(x.data_ptr<float>()[i]); }}\n'
        f'KP_MODULE("halves", "1.0.0");\nKP_EXPORT(halved, F, {CONTRACT});\n'
    )
    k = kernpack.load([folder / "half.cc", folder / "half.c"], build_directory=folder / "made")
    assert (k.halved(ONE) == 0.5).all()
    assert list((folder / "made").glob("*.so"))


@pytest.mark.parametrize(
    ("files", "options", "error", "said"),
    [
        (["nope.cc"], {}, FileNotFoundError, r"kernpack\.load: no file .*nope\.cc$"),
        (["main.cc", "x.so"], {}, ValueError, r"expected sources \(.*\) or built modules, not both; got x\.so among sources"),
        (["main.cc"], {"extra_cflags": "-O3"}, TypeError, r"extra_cflags: expected a list of strings, as in \[.*\], got str '-O3'"),
        (["main.cc"], {"extra_ldflags": [3]}, TypeError, "extra_ldflags: expected a list of strings, got int in it"),
        (["main.cc"], {"extra_clfags": []}, TypeError, "no option 'extra_clfags'; did you mean 'extra_cflags'?"),
        (["main.cc"], {"build_directory": 3}, TypeError, "build_directory: expected a path, got int"),
        (["x.so"], {"verbose": True}, TypeError, r"verbose: an option for compiling sources \(.*\), but .*x\.so isn't a source; leave"),
        (["scale.cpp"], {"extra_cflags": ["-DFACTOR=1"]}, ValueError, r'scale\.cpp: no module; one source needs KP_MODULE\("name"'),
        (["main.cc"], {}, RuntimeError, r"main\.cc:3: the header add\.h isn't found; .* include_paths of kernpack\.load"),
        (["main.cc"], {"include_paths": ["I"]}, RuntimeError, r"'Scale\(.*\)' is declared, but nothing that was linked defines it"),
    ],
)  # fmt: skip
def test_sources_that_cannot_be_loaded_are_refused(
    folder: Path, files: list[str], options: dict, error: type[Exception], said: str
) -> None:
    if options.get("include_paths"):
        options = {"include_paths": [folder / "include"]}
    paths = [folder / file for file in files]
    with pytest.raises(error, match=said):
        kernpack.load(paths if len(paths) > 1 else paths[0], **options)


def test_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(
        RuntimeError, match=r"kernpack\.load: no compiler 'no-such-compiler' on the PATH; install one or set CXX"
    ):
        _load(folder)


def test_load_inline_takes_torchs_options(folder: Path) -> None:
    source = f'{HEAD}#include "add.h"\nvoid add{TAKES} {{ {LOOP} x.data_ptr<float>()[i] + ADD * BY; }}\n'
    k = kernpack.load_inline(
        source, {"add": CONTRACT.strip('"')}, extra_cflags=["-DBY=2"], extra_include_paths=[folder / "include"]
    )
    assert (k.add(ONE) == 3).all()
