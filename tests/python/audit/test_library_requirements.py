"""A wheel requires the wheels whose libraries its modules need; they don't count for the platform tag."""

from __future__ import annotations

from pathlib import Path

import pytest
from audit_inputs import SOURCE, Build, Pack, problems
from kernpack_sdk import check, needs
from packaging.requirements import Requirement
from support.wheel_libraries import library, note

CUBLAS = "nvidia-cublas>=13,<14"
LICENSE = "License-Expression: Apache-2.0\n"


@pytest.fixture(scope="session")
def linked(build: Build, tmp_path_factory: pytest.TempPathFactory):
    """linked("libcublas.so.13", ...): a module that needs these; code= is compiled into it."""

    def run(*names: str, code: str = "") -> Path:
        folder = tmp_path_factory.mktemp("libraries")
        stubs = [str(library(folder / name)) for name in names]
        return build(SOURCE + code, "-Wl,--no-as-needed", *stubs)

    return run


@pytest.fixture(scope="session")
def with_cublas(linked) -> Path:
    return linked("libcublas.so.13")


@pytest.fixture(scope="session")
def with_curand(linked) -> Path:
    return linked("libcurand.so.10")


def test_a_wheel_must_require_what_its_modules_need(pack: Pack, with_cublas: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": with_cublas}, tag="py3-none-manylinux_2_38_x86_64")
    assert problems(wheel) == [
        "my_kernels.so: needs libcublas.so.13 (nvidia-cublas>=13,<14), which METADATA doesn't require; in pyproject.toml, under "
        '[tool.kernpack]: needs = ["nvidia-cublas>=13,<14"]'
    ]
    assert check.platform_tag(wheel).startswith("manylinux_2_")


def test_the_requirement_is_found_however_it_is_spelled(pack: Pack, with_cublas: Path) -> None:
    for_others = "Requires-Dist: broken requirement !\nRequires-Dist: Nvidia.cuBLAS (>=13.1)\n"
    wheel = pack(
        {"my_kernels/my_kernels.so": with_cublas}, tag="py3-none-manylinux_2_38_x86_64", metadata=LICENSE + for_others
    )
    assert problems(wheel) == []
    assert "needs libcublas.so.13 (nvidia-cublas>=13,<14), " in check.describe(with_cublas)


def test_an_extra_does_not_bring_the_library(pack: Pack, with_cublas: Path) -> None:
    wheel = pack(
        {"my_kernels/my_kernels.so": with_cublas}, metadata=LICENSE + f'Requires-Dist: {CUBLAS}; extra == "cuda"\n'
    )
    assert "which METADATA doesn't require" in problems(wheel)[0]


def test_the_note_says_whose_a_library_is(pack: Pack, linked, tmp_path: Path) -> None:
    declared = linked("libother.so.1", code=note(("libother.so.1", "other>=1", "other/lib")))
    assert check.check_module(declared) == []
    wheel = pack(
        {"my_kernels/my_kernels.so": declared},
        tag="py3-none-manylinux_2_38_x86_64",
        metadata=LICENSE + "Requires-Dist: other\n",
    )
    assert problems(wheel) == []
    for text, instead in ((b"other>=1", b"a b c d "), (b"Kernpack\0", b"Somebody\0")):
        changed = tmp_path / "changed.so"
        changed.write_bytes(declared.read_bytes().replace(text, instead))
        assert check.check_module(changed) == [
            "changed.so: needs libother.so.1, which is neither a C or C++ run-time library nor one of a wheel; if a wheel has it, "
            "declare that: kernpack_wheel_library()"
        ]


def required(metadata: str, modules: list[Path], *stated: str) -> list[str]:
    return [str(each) for each in needs.required(metadata, modules, [Requirement(each) for each in stated])]


def test_requirements_that_a_build_adds(with_cublas: Path, with_curand: Path) -> None:
    assert required("Name: a\n", [with_cublas]) == [str(Requirement(CUBLAS))]
    assert required("Name: a\nRequires-Dist: nvidia_cublas==13.1\n\nRequires-Dist: x", [with_cublas]) == []
    assert required("Name: a\n", [with_cublas], "nvidia-cublas>=13.2,<14") == ["nvidia-cublas<14,>=13.2"]
    assert required("Name: a\n", [with_curand], "nvidia-curand-cu12") == ["nvidia-curand-cu12"]
    # Another module tells the version of CUDA.
    assert required("Name: a\n", [with_curand, with_cublas]) == ["nvidia-curand<11,>=10", "nvidia-cublas<14,>=13"]


def test_a_library_of_two_versions_of_cuda_must_be_declared(with_curand: Path) -> None:
    with pytest.raises(
        ValueError, match=r"needs libcurand\.so\.10 \(nvidia-curand>=10,<11 or nvidia-curand-cu12>=10,<11\), by"
    ):
        required("Name: a\n", [with_curand])


def test_a_declared_wheel_that_no_module_links(with_cublas: Path) -> None:
    with pytest.raises(
        ValueError, match=r"needs: nvidia-nccl-cu13: no module of the wheel links a library of that wheel"
    ):
        required("Name: a\n", [with_cublas], CUBLAS, "nvidia-nccl-cu13")


@pytest.mark.parametrize("given", ["nvidia-cublas", {"a": 1}, [1], ["a b c"], ["nvidia::cublas"]])
def test_what_is_no_list_of_requirements(given: object) -> None:
    with pytest.raises(ValueError, match=r"\[tool\.kernpack\] needs: expected a list of requirements, such as \["):
        needs.declared({"tool": {"kernpack": {"needs": given}}})


def test_metadata_keeps_its_description(tmp_path: Path) -> None:
    file = tmp_path / "METADATA"
    file.write_text("Name: a\nVersion: 1\n\nWords.\n\nMore words.\n")
    needs.add_to_metadata(file, [Requirement("b>=1")])
    assert file.read_text() == "Name: a\nVersion: 1\nRequires-Dist: b>=1\n\nWords.\n\nMore words.\n"
    file.write_text("Name: a\n")
    needs.add_to_metadata(file, [Requirement("b")])
    assert file.read_text() == "Name: a\nRequires-Dist: b\n"


def test_the_table_has_one_row_a_library_and_version_of_cuda() -> None:
    rows = needs._table()
    assert len(rows) == len({(row.cuda, row.library) for row in rows}) == 24
    assert all(Requirement(row.requirement).name.endswith("-cu12") for row in rows if row.cuda == 12)
