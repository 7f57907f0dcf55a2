"""Calls that do not fit the signature: the same exception in the same words from every framework."""

from __future__ import annotations

import math

import numpy as np
import pytest
from callers import CALLERS, Arrays
from kernpack._private import is_private_allowed
from support.refusal import CONVERT, refused

ROWS = "it takes (a, w, *, n=1, out=None)"
RANGE = "expected an int of 64 bits (-2**63 to 2**63 - 1)"
KINDS = "it takes (x, *, i=1, f=1.0, b=False, s='add', t='f32', d=None, out=None)"
DTYPES = (
    "expected a name such as f32, bf16, i64, u8, bool, c64, f8_e4m3fn, or a framework's: float32, torch.float32, <f4"
)

# name: (call(k, new), exception, message); new(*shape, dtype=) makes an array of the caller's framework.
BINDING = {
    "missing_argument": (
        lambda k, new: k.rows(new(4, 8)),
        TypeError,
        f"rows() missing 1 required positional argument: 'w'; {ROWS}",
    ),
    "no_arguments": (
        lambda k, new: k.rows(),
        TypeError,
        f"rows() missing 2 required positional arguments: 'a' and 'w'; {ROWS}",
    ),
    "too_many_arguments": (
        lambda k, new: k.rows(new(4, 8), new(8), 1),
        TypeError,
        f"rows() takes 2 positional arguments but 3 were given; {ROWS}",
    ),
    "unknown_keyword": (
        lambda k, new: k.rows(new(4, 8), new(8), quality=1),
        TypeError,
        f"rows() got an unexpected keyword argument 'quality'; {ROWS}",
    ),
    "misspelt_keyword": (
        lambda k, new: k.kinds(new(8), ff=2.0),
        TypeError,
        f"kinds() got an unexpected keyword argument 'ff' (did you mean 'f'?); {KINDS}",
    ),
    "misspelt_out": (
        lambda k, new: k.rows(new(4, 8), new(8), ouput=new(4, 8)),
        TypeError,
        f"rows() got an unexpected keyword argument 'ouput' (did you mean 'out'?); {ROWS}",
    ),
    "keyword_twice": (
        lambda k, new: k.rows(new(4, 8), new(8), a=new(4, 8)),
        TypeError,
        f"rows() got multiple values for argument 'a'; {ROWS}",
    ),
    "keyword_of_100000_letters": (
        lambda k, new: k.rows(new(4, 8), new(8), **{"x" * 100_000: 1}),
        TypeError,
        f"rows() got an unexpected keyword argument '{'x' * 80}'; {ROWS}",
    ),
}
TENSORS = {
    "wrong_dtype": (
        lambda k, new: k.rows(new(4, 8, dtype=np.int32), new(8)),
        TypeError,
        "rows: a: expected dtype T in {f32, f64}, got i32" + CONVERT,
    ),
    "dtypes_that_differ": (
        lambda k, new: k.rows(new(4, 8), new(8, dtype=np.float16)),
        TypeError,
        "rows: w: expected dtype T = f32 (bound by a), got f16" + CONVERT,
    ),
    "rank_too_low": (
        lambda k, new: k.rows(new(8), new(8)),
        ValueError,
        "rows: a: expected shape [N, D] (2 dims), got [8] (1 dim)",
    ),
    "rank_too_high": (
        lambda k, new: k.rows(new(1, 4, 8), new(8)),
        ValueError,
        "rows: a: expected shape [N, D] (2 dims), got [1, 4, 8] (3 dims)",
    ),
    "shapes_that_differ": (
        lambda k, new: k.rows(new(4, 8), new(5)),
        ValueError,
        "rows: w: expected shape [D] with D = 8 (bound by a), got [5]\n"
        "    a: f32[N, D] = [4, 8]\n"
        "    w: f32[D]    = [5]\n"
        "                    ^ D is 8 in a",
    ),
    "dims_that_differ_in_the_middle": (
        lambda k, new: k.grouped(new(4, 8), new(2, 16)),
        ValueError,
        "grouped: k: expected shape [G, N] with N = 8 (bound by q), got [2, 16]\n"
        "    q: f32[H, N] = [4, 8]\n"
        "    k: f32[G, N] = [2, 16]\n"
        "                       ^^ N is 8 in q",
    ),
    "none_for_a_tensor": (
        lambda k, new: k.rows(new(4, 8), None),
        TypeError,
        "rows: w: expected a tensor of shape [D], got None",
    ),
    "none_for_a_list": (lambda k, new: k.many(None), TypeError, "many: xs: expected a tensor of shape [N], got None"),
    "list_with_another_shape": (
        lambda k, new: k.many([new(8), new(3)]),
        ValueError,
        "many: xs[1]: expected shape [N] with N = 8 (bound by xs), got [3]\n"
        "    xs[0]: f32[N] = [8]\n"
        "    xs[1]: f32[N] = [3]\n"
        "                     ^ N is 8 in xs[0]",
    ),
    "empty_list_that_fixes_nothing": (
        lambda k, new: k.many([]),
        ValueError,
        "many: out: expected arguments that fix its shape [N] and dtype, got only empty lists or numbers",
    ),
}
SCALARS = {
    "nan_for_int": (
        lambda k, new: k.rows(new(4, 8), new(8), n=math.nan),
        TypeError,
        "rows: n: expected int, got float",
    ),
    "inf_for_int": (
        lambda k, new: k.rows(new(4, 8), new(8), n=math.inf),
        TypeError,
        "rows: n: expected int, got float",
    ),
    "whole_float_for_int": (
        lambda k, new: k.rows(new(4, 8), new(8), n=1.0),
        TypeError,
        "rows: n: expected int, got float",
    ),
    "bool_for_int": (lambda k, new: k.rows(new(4, 8), new(8), n=True), TypeError, "rows: n: expected int, got bool"),
    "str_for_int": (lambda k, new: k.rows(new(4, 8), new(8), n="1"), TypeError, "rows: n: expected int, got str"),
    "int_of_65_bits": (
        lambda k, new: k.rows(new(4, 8), new(8), n=2**64),
        OverflowError,
        f"rows: n: {RANGE}, got 18446744073709551616",
    ),
    "negative_int_of_65_bits": (
        lambda k, new: k.rows(new(4, 8), new(8), n=-(2**63) - 1),
        OverflowError,
        f"rows: n: {RANGE}, got -9223372036854775809",
    ),
    "int_of_16610_bits": (
        lambda k, new: k.rows(new(4, 8), new(8), n=10**5000),
        OverflowError,
        f"rows: n: {RANGE}, got an int of 16610 bits",
    ),
    "str_for_float": (lambda k, new: k.kinds(new(8), f="1"), TypeError, "kinds: f: expected float, got str"),
    "complex_for_float": (lambda k, new: k.kinds(new(8), f=1j), TypeError, "kinds: f: expected float, got complex"),
    "none_for_float": (lambda k, new: k.kinds(new(8), f=None), TypeError, "kinds: f: expected float, got None"),
    "int_for_bool": (lambda k, new: k.kinds(new(8), b=2), TypeError, "kinds: b: expected bool, got int"),
    "str_that_is_no_choice": (
        lambda k, new: k.kinds(new(8), s="mul"),
        ValueError,
        'kinds: s: expected one of "add", "sub", got "mul"',
    ),
    "bytes_for_str": (lambda k, new: k.kinds(new(8), s=b"add"), TypeError, "kinds: s: expected str, got bytes"),
    "surrogate_for_str": (
        lambda k, new: k.kinds(new(8), s="\ud800"),
        ValueError,
        "kinds: s: expected a str that can be encoded as UTF-8, got \\ud800",
    ),
    "unknown_dtype": (
        lambda k, new: k.kinds(new(8), t="f33"),
        ValueError,
        f"kinds: t: unknown dtype 'f33'; {DTYPES}",
    ),
    "unknown_device": (
        lambda k, new: k.kinds(new(8), d="gpuu:0"),
        ValueError,
        "kinds: d: unknown device 'gpuu:0'; expected a device type (cpu, cuda, rocm, opencl, metal, ...) and optionally an "
        "index: cuda:1",
    ),
    "negative_device_index": (
        lambda k, new: k.kinds(new(8), d="cpu:-1"),
        ValueError,
        "kinds: d: device 'cpu:-1': expected a number of up to 9 digits after the colon, such as cpu:0",
    ),
    "condition_not_met": (lambda k, new: k.divide(100, new(8)), ValueError, "divide: expected n < 100, got n = 100"),
    "condition_on_dims_not_met": (
        lambda k, new: k.grouped(new(4, 8), new(3, 8)),
        ValueError,
        "grouped: expected H % G == 0, got H = 4 (bound by q), G = 3 (bound by k)",
    ),
    "division_by_zero": (
        lambda k, new: k.divide(0, new(8)),
        ValueError,
        "divide: out: expected shape [N // n], got a division by zero for N = 8, n = 0",
    ),
    "negative_size": (
        lambda k, new: k.divide(-2, new(8)),
        ValueError,
        "divide: out: expected shape [N // n], got a negative size",
    ),
}
EVERYWHERE = BINDING | TENSORS | SCALARS


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("row", EVERYWHERE)
def test_a_refused_call_reads_the_same_for_every_caller(k, row: str, caller: str) -> None:
    call, kind, message = EVERYWHERE[row]
    new = Arrays(caller)
    call_with = _on_the_same_arrays(call, k, new)
    if _torch_answers(row, caller):
        _refused_by_torch(row, call_with)
        return
    refused(call_with, kind, message, watch=new.made)


# Without the hooks into torch (docs/private.md), as on Windows, torch's operator is called, which refuses these in torch's words.
BY_TORCH = {
    "none_for_a_tensor",
    "nan_for_int",
    "inf_for_int",
    "whole_float_for_int",
    "bool_for_int",
    "str_for_int",
    "int_of_65_bits",
    "negative_int_of_65_bits",
    "int_of_16610_bits",
    "str_for_float",
    "complex_for_float",
    "none_for_float",
    "int_for_bool",
    "str_that_is_no_choice",
    "bytes_for_str",
    "surrogate_for_str",
    "unknown_dtype",
    "unknown_device",
    "negative_device_index",
    "list_for_a_tensor",
    "str_for_a_tensor",
    "dict_for_a_tensor",
    "set_for_a_tensor",
}

CONVERTED = {"bool_for_int", "bytes_for_str"}  # by torch, and the call is made


def _torch_answers(row: str, caller: str) -> bool:
    return caller == "torch" and row in BY_TORCH and not is_private_allowed("torch.watchers")


def _refused_by_torch(row: str, call) -> None:
    if row in CONVERTED:
        call()
        return
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call()


def _on_the_same_arrays(call, k, new: Arrays):
    """Makes the row's arrays once, so that their reference counts can be compared."""
    made: dict[tuple[object, ...], object] = {}

    def again(*shape: int, dtype=np.float32):
        key = (*shape, dtype)
        if key not in made:
            made[key] = new(*shape, dtype=dtype)
        return made[key]

    return lambda: call(k, again)


# Errors of JAX with its own words: its arrays are immutable and never mixed with others'.
OTHER_OBJECTS = {
    "list_for_a_tensor": (
        [1.0],
        "a tensor of shape [D], got list: convert it first (NumPy: np.array(x, dtype), torch: torch.tensor(x))",
        "a JAX array like the other arguments, got list",
    ),
    "str_for_a_tensor": ("text", "a tensor of shape [D], got str", "a JAX array like the other arguments, got str"),
    "dict_for_a_tensor": ({1: 2}, "a tensor of shape [D], got dict", "a JAX array like the other arguments, got dict"),
    "set_for_a_tensor": ({1}, "a tensor, got set", "a JAX array like the other arguments, got set"),
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("row", OTHER_OBJECTS)
def test_another_object_for_a_tensor(k, row: str, caller: str) -> None:
    value, words, jax_words = OTHER_OBJECTS[row]
    a = Arrays(caller)(4, 8)
    if _torch_answers(row, caller):
        _refused_by_torch(row, lambda: k.rows(a, value))
        return
    message = f"rows: w: expected {jax_words if caller == 'jax' else words}"
    refused(lambda: k.rows(a, value), TypeError, message, watch=[a, value])


@pytest.mark.parametrize("caller", CALLERS)
def test_zero_size_is_legal_and_launches_nothing(k, caller: str) -> None:
    new = Arrays(caller)
    assert tuple(k.fill_ones(new(0, 8)).shape) == (0, 8)
    assert tuple(k.rows(new(0, 8), new(8)).shape) == (0, 8)
    assert tuple(k.fill_ones(new(3, 0)).shape) == (3, 0)
