"""Kernels and callbacks that fail: whatever is thrown is an exception of the caller, and the next call works."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import pytest
from callers import CALLERS, Arrays
from support.refusal import refused

STRANGE = "threw something that is not a std::exception"

THROWN: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "throw_42": (lambda k: k.throw_int(), kernpack.InternalError, f"throw_int: {STRANGE}"),
    "throw_a_char_pointer": (lambda k: k.throw_text(), kernpack.InternalError, f"throw_text: {STRANGE}"),
    "std_runtime_error": (lambda k: k.throw_std(), RuntimeError, "throw_std: from the standard library"),
    "std_bad_alloc": (lambda k: k.throw_memory(), MemoryError, "throw_memory: std::bad_alloc"),
    "kind_of_python": (lambda k: k.throw_kind("no such key"), LookupError, "throw_kind: no such key"),
    "empty_message": (lambda k: k.throw_kind(""), LookupError, "throw_kind"),
    "percent_signs": (lambda k: k.throw_kind("100 % %s %n %d"), LookupError, "throw_kind: 100 % %s %n %d"),
    "unicode": (lambda k: k.throw_kind("größer ≥ 3, 猫"), LookupError, "throw_kind: größer ≥ 3, 猫"),
    "kind_that_python_lacks": (lambda k: k.throw_odd(), kernpack.KernelError, "throw_odd: odd"),
    "check": (lambda k: k.check(7), ValueError, "check: n: expected less than 3, got 7"),
}


@pytest.mark.parametrize("row", THROWN)
def test_whatever_a_kernel_throws(k, row: str) -> None:
    call, kind, message = THROWN[row]
    refused(lambda: call(k), kind, message)
    assert k.add(1, 2) == 3


@pytest.mark.parametrize("caller", [name for name in CALLERS if name != "jax"])
def test_a_kernel_with_a_signature_that_throws_42(k, caller: str) -> None:
    x = Arrays(caller)(8)
    refused(lambda: k.typed_throw(x), kernpack.InternalError, f"typed_throw: {STRANGE}", watch=[x])


@pytest.mark.parametrize("caller", CALLERS)
def test_what_a_kernel_throws_names_it_whoever_calls(k, caller: str) -> None:
    with pytest.raises(RuntimeError, match=r"typed_std: told"):
        k.typed_std(Arrays(caller)(8))


def test_what_a_kernel_throws_names_it_on_the_other_ways_in(k) -> None:
    torch, tvm_ffi = pytest.importorskip("torch"), pytest.importorskip("tvm_ffi")
    jax = pytest.importorskip("jax")
    x = torch.ones(8)
    with pytest.raises(RuntimeError, match="typed_std: told"):
        kernpack.torch.ops(k).typed_std(x)
    with pytest.raises(RuntimeError, match="typed_std: told"):
        tvm_ffi.load_module(k.path).typed_std(x)
    with pytest.raises(RuntimeError, match="typed_std: told"):
        jax.block_until_ready(jax.jit(k.typed_std)(jax.numpy.ones(8)))


@pytest.mark.parametrize("name", ["in_parallel", "in_factory"])
def test_what_is_thrown_inside_a_service_names_the_function_that_asked(k, name: str) -> None:
    refused(getattr(k, name), RuntimeError, f"{name}: told")


def test_what_a_callable_throws_names_the_function_that_made_it(k) -> None:
    thrower = k.makes_thrower()
    refused(lambda: thrower(1), RuntimeError, "makes_thrower: told")
    refused(lambda: thrower("1"), TypeError, "makes_thrower: argument 0: expected int, got str")


def test_a_kernel_with_a_signature_that_throws_42_under_jax(k) -> None:
    x = Arrays("jax")(8)
    with pytest.raises(RuntimeError, match=f"typed_throw: {STRANGE}"):
        k.typed_throw(x)


def test_the_kind_of_an_error_is_told() -> None:
    module = kernpack.load_inline('void odd() { KP_THROW(OddError) << "odd"; }', ["odd"], name="odd_errors")
    with pytest.raises(kernpack.KernelError) as caught:
        module.odd()
    assert caught.value.kind == "OddError"


RANGES = {
    "i8_above": ((128, 0, 0, 0, 0, 0, 0), "argument 0: expected int that fits in 8 bits, got 128"),
    "i8_below": ((-129, 0, 0, 0, 0, 0, 0), "argument 0: expected int that fits in 8 bits, got -129"),
    "u8_above": ((0, 256, 0, 0, 0, 0, 0), "argument 1: expected int that is not negative and fits in 8 bits, got 256"),
    "u8_below": ((0, -1, 0, 0, 0, 0, 0), "argument 1: expected int that is not negative and fits in 8 bits, got -1"),
    "i16_above": ((0, 0, 2**15, 0, 0, 0, 0), "argument 2: expected int that fits in 16 bits, got 32768"),
    "u16_above": (
        (0, 0, 0, 2**16, 0, 0, 0),
        "argument 3: expected int that is not negative and fits in 16 bits, got 65536",
    ),
    "i32_above": ((0, 0, 0, 0, 2**31, 0, 0), "argument 4: expected int that fits in 32 bits, got 2147483648"),
    "u32_above": (
        (0, 0, 0, 0, 0, 2**32, 0),
        "argument 5: expected int that is not negative and fits in 32 bits, got 4294967296",
    ),
    "u64_below": (
        (0, 0, 0, 0, 0, 0, -1),
        "argument 6: expected int that is not negative and fits in 64 bits, got -1",
    ),
}


@pytest.mark.parametrize("row", RANGES)
def test_int_out_of_range_for_the_cpp_type(k, row: str) -> None:
    values, message = RANGES[row]
    refused(lambda: k.narrow(*values), ValueError, f"narrow: {message}")


def test_ints_at_the_ends_of_their_types(k) -> None:
    assert k.narrow(127, 255, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**32 - 1, 0) > 0
    assert k.narrow(-128, 0, -(2**15), 0, -(2**31), 0, 2**63 - 1) == 2**63 - 1 - 128 - 2**15 - 2**31


UNTYPED: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "too_few": (lambda k: k.add(1), TypeError, "add: expected 2 arguments, got 1"),
    "too_many": (lambda k: k.add(1, 2, 3), TypeError, "add: expected 2 arguments, got 3"),
    "keyword": (lambda k: k.add(1, b=2), TypeError, "add() takes no keyword arguments: it has no signature"),
    "nan_for_int": (lambda k: k.add(1, float("nan")), TypeError, "add: argument 1: expected int, got float"),
    "float_for_int": (lambda k: k.add(1, 1.5), TypeError, "add: argument 1: expected int, got float"),
    "none_for_int": (lambda k: k.add(None, 1), TypeError, "add: argument 0: expected int, got None"),
    "str_for_float": (lambda k: k.half("1"), TypeError, "half: argument 0: expected float, got str"),
    "list_for_str": (lambda k: k.length([1]), TypeError, "length: argument 0: expected str, got list"),
    "int_for_function": (lambda k: k.apply(3, 3), TypeError, "apply: argument 0: expected Function, got int"),
    "int_for_tensor": (lambda k: k.touch(3), TypeError, "touch: argument 0: expected Tensor, got int"),
    "read_only_buffer": (
        lambda k: k.touch(memoryview(b"abc")),
        ValueError,
        "touch: argument 0: expected a writeable buffer (it may be written to; pass a copy), got a read-only one",
    ),
    "int_of_100_bits": (
        lambda k: k.echo(10**30),
        OverflowError,
        "echo: argument 0: expected an int of 64 bits (-2**63 to 2**63 - 1), got 1000000000000000000000000000000",
    ),
    "surrogate": (
        lambda k: k.echo("a\ud800"),
        ValueError,
        "echo: argument 0: expected a str that can be encoded as UTF-8, got a\\ud800",
    ),
    "misspelt_function": (
        lambda k: k.tuch,
        AttributeError,
        "module 'error_tests' has no function 'tuch'; did you mean 'touch'?",
    ),
    "no_such_function": (lambda k: k.zzzzz, AttributeError, "module 'error_tests' has no function 'zzzzz'"),
}


@pytest.mark.parametrize("row", UNTYPED)
def test_function_without_a_signature(k, row: str) -> None:
    call, kind, message = UNTYPED[row]
    refused(lambda: call(k), kind, message)


CALLBACKS: dict[str, tuple[Callable[..., Any], type[BaseException], str]] = {
    "raises": (lambda x: {}["mine"], KeyError, "'mine'"),  # words of Python's own errors change with its version
    "ends_the_program": (lambda x: sys.exit(3), SystemExit, "3"),
    "gives_a_huge_int": (
        lambda x: 10**40,
        OverflowError,
        f"kernpack: what a callback returned: expected an int of 64 bits (-2**63 to 2**63 - 1), got {10**40}",
    ),
}


@pytest.mark.parametrize("row", CALLBACKS)
def test_what_a_callback_raises_reaches_the_caller(k, row: str) -> None:
    callback, kind, message = CALLBACKS[row]
    refused(lambda: k.apply(callback, 3), kind, message, watch=[callback])


def test_an_exception_of_a_callback_comes_back_as_itself(k) -> None:
    error = LookupError("mine")

    def raises(x: object) -> None:
        raise error

    with pytest.raises(LookupError) as caught:
        k.apply(raises, 3)
    assert caught.value is error


def test_endless_recursion_through_kernels(k) -> None:
    def again(n: int) -> object:
        return k.apply(again, n)

    with pytest.raises(RecursionError):
        again(1)
    assert k.add(1, 2) == 3


def _nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = []
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}], ids=["list", "tuple", "dict"])
def test_nesting_beyond_the_stack_is_refused(k, wrap: Callable[[Any], Any]) -> None:
    assert k.echo(_nested(50, wrap))
    gc.collect()  # without a GIL, objects may wait for the collector
    before = kernpack._core.live_objects()
    with pytest.raises(RecursionError):
        k.echo(_nested(100_000, wrap))
    assert kernpack._core.live_objects() == before


def test_a_list_that_holds_itself(k) -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        k.echo(loop)


@pytest.mark.parametrize(
    "text", ["é" * 5_000_000, "\0" * 10_000_000, "a" * 10_000_000], ids=["unicode", "nul", "ascii"]
)
def test_10_mb_of_text_both_ways(k, text: str) -> None:
    assert k.length(text) == 10_000_000
    assert k.echo(text) == text


def test_10_mb_of_text_in_an_error(k) -> None:
    text = "é" * 5_000_000
    with pytest.raises(LookupError) as caught:
        k.throw_kind(text)
    assert caught.value.args[0] == f"throw_kind: {text}"


def test_results_of_a_failed_call_are_let_go(k) -> None:
    given = np.zeros(8, np.float32)
    out = np.zeros(8, np.float32)
    refused(
        lambda: k.typed_throw(given, out=out), kernpack.InternalError, f"typed_throw: {STRANGE}", watch=[given, out]
    )


_WITHOUT_A_MESSAGE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
#define SMALL(n) (n) < 5
void check(int64_t n) { KP_CHECK(n > 9, ValueError); }
void commas(int64_t n) { KP_CHECK((std::is_same<int64_t, decltype(n)>() && n < 0), TypeError); }
void macro(int64_t n) { KP_CHECK(SMALL(n), IndexError); }
void throws(int64_t n) { KP_THROW(RuntimeError); }
void said(int64_t n) { KP_CHECK(n != 123456, ValueError) << "n is " << n; }
KP_MODULE("without_a_message", "1.0.0");
KP_EXPORT(check, check); KP_EXPORT(commas, commas); KP_EXPORT(macro, macro); KP_EXPORT(throws, throws); KP_EXPORT(said, said);
"""


def test_a_check_without_a_message_prints_its_condition_and_place() -> None:
    k = kernpack.load_inline(_WITHOUT_A_MESSAGE)
    refused(lambda: k.check(7), ValueError, "check: expected n > 9 (inline.cc:4)")
    text = "commas: expected (std::is_same<int64_t, decltype(n)>() && n < 0) (inline.cc:5)"
    refused(lambda: k.commas(7), TypeError, text)
    refused(lambda: k.macro(7), IndexError, "macro: expected SMALL(n) (inline.cc:6)")
    refused(lambda: k.throws(7), RuntimeError, "throws: raised without a message at inline.cc:7")
    refused(lambda: k.said(123456), ValueError, "said: n is 123456")
    assert k.check(10) is None


def test_a_condition_whose_check_has_a_message_is_not_in_the_module() -> None:
    module = kernpack.load_inline(_WITHOUT_A_MESSAGE)
    content = Path(module.path).read_bytes()
    assert b"n > 9" in content
    assert b"n != 123456" not in content
