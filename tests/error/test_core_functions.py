"""The core's own functions read their arguments by one table (bindings/python/src/api/api_table.h), and refuse them in one way: the
function, the argument, what was expected, what came."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import kernpack
import pytest
from kernpack import _core

STUB = Path(__file__).resolve().parents[2] / "bindings/python/kernpack/_core.pyi"
CPU = kernpack.device("cpu")

REFUSED = {
    "too_few": (
        lambda: _core.stream_set(CPU),
        TypeError,
        "stream: missing argument 'stream'; it takes (device, stream)",
    ),
    "too_many": (
        lambda: _core.stream_set(CPU, 0, 1),
        TypeError,
        "stream: expected fewer arguments, got 3; it takes (device, stream)",
    ),
    "unknown_keyword": (
        lambda: kernpack.empty((2,), dtipe="f32"),
        TypeError,
        "empty: got an unexpected keyword argument 'dtipe'; it takes (shape, dtype, device, scope)",
    ),
    "given_twice": (
        lambda: kernpack.empty((2,), "f32", dtype="f32"),
        TypeError,
        "empty: got two values for argument 'dtype'; it takes (shape, dtype, device, scope)",
    ),
    "no_str": (lambda: kernpack.register_func(3, len), TypeError, "register_func: name: expected a str, got int 3"),
    "null_in_a_path": (
        lambda: _core.backend_load("a\0b"),
        TypeError,
        "load_backend: path: expected a str without null characters, got str a\0b",
    ),
    "no_callable": (
        lambda: kernpack.register_func("x", 3),
        TypeError,
        "register_func: function: expected a callable, got int 3",
    ),
    "no_hook": (
        lambda: _core.set_hook("torch", 3),
        TypeError,
        "set_hook: hook: expected a callable or None, got int 3",
    ),
    "no_class": (
        lambda: _core.jax_arrays(None, len),
        TypeError,
        "jax_arrays: array: expected a class, got None",
    ),
    "no_exception": (
        lambda: _core.register_error("Kind", int),
        TypeError,
        "register_error: error: expected an exception class, got type <class 'int'>",
    ),
    "no_tuple": (lambda: _core.load(["a.so"], 0), TypeError, "load: paths: expected a tuple, got list ['a.so']"),
    "no_device": (
        lambda: kernpack.storage.reset_device(5),
        TypeError,
        'storage.reset_device: device: expected a device, such as "cuda:1", got int 5',
    ),
    "no_device_or_none": (
        lambda: kernpack.empty((2,), "f32", device=5),
        TypeError,
        'empty: device: expected a device, such as "cuda:1", or None, got int 5',
    ),
    "no_scope": (
        lambda: kernpack.empty((2,), "f32", scope=5),
        TypeError,
        "empty: scope: expected a str or None, got int 5",
    ),
    "no_dtype": (
        lambda: kernpack.empty((2,), 3),
        TypeError,
        'empty: dtype: expected a dtype, such as "f32", got int 3',
    ),
    "no_tensor": (
        lambda: _core.copy(1, 2),
        TypeError,
        "copy: source: expected a kernpack.Tensor, got int 1; kernpack.from_dlpack() makes one of any array",
    ),
    "second_no_tensor": (
        lambda: _core.copy(kernpack.empty((2,), "f32"), 2),
        TypeError,
        "copy: target: expected a kernpack.Tensor, got int 2; kernpack.from_dlpack() makes one of any array",
    ),
    "read_only_target": (
        lambda: _core.fill(kernpack.from_dlpack(memoryview(b"12")), 1),
        ValueError,
        "fill: tensor: expected a writeable tensor, got a read-only one: write to a copy",
    ),
    "no_int": (
        lambda: kernpack.set_num_threads(1.5),
        TypeError,
        "set_num_threads: n: expected an int of 32 bits, got float 1.5",
    ),
    "wide_int": (
        lambda: kernpack.set_num_threads(2**40),
        OverflowError,
        "set_num_threads: n: expected an int of 32 bits, got int 1099511627776",
    ),
    "negative_handle": (
        lambda: _core.stream_set(CPU, -1),
        OverflowError,
        "stream: stream: expected an int from 0 to 2**64 - 1, got int -1",
    ),
    "wide_flags": (
        lambda: _core.load((), 2**32),
        OverflowError,
        "load: flags: expected an int from 0 to 2**32 - 1, got int 4294967296",
    ),
    "wide_count": (
        lambda: _core.profile_begin(2**64),
        OverflowError,
        "profile: max_events: expected an int from 0 to 2**64 - 1, got int 18446744073709551616",
    ),
    "no_module": (
        lambda: _core.module_facts(3),
        TypeError,
        "module_facts: module: expected a loaded module, got int 3; load() gives one",
    ),
    "no_profile": (
        lambda: _core.profile_end(3),
        TypeError,
        "profile: recorded: expected a profile, got int 3; profile_begin() gives one",
    ),
    "no_object": (
        lambda: _core.object_of(3),
        TypeError,
        "object_of: capsule: expected a capsule with an object, got int 3; __kernpack_object__() gives one",
    ),
    "no_info": (
        lambda: _core.jax_remember(3, (), (), (), len, False),
        TypeError,
        "jax_remember: info: expected a FunctionInfo, got int 3; function() gives one",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_argument_says_which_and_what_was_expected(name: str) -> None:
    call, kind, message = REFUSED[name]
    before = _core.live_objects()
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message
    del caught
    assert _core.live_objects() == before


def test_what_stands_for_an_int_is_one() -> None:
    numpy = pytest.importorskip("numpy")
    before = _core.get_num_threads()
    try:
        kernpack.set_num_threads(numpy.int64(2))
        assert _core.get_num_threads() == 2
    finally:
        kernpack.set_num_threads(before)


def test_the_type_stub_has_every_function_with_its_parameters() -> None:
    written = {
        node.name: [
            *(argument.arg for argument in (*node.args.posonlyargs, *node.args.args)),
            *(["*" + node.args.vararg.arg] if node.args.vararg else []),
        ]
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    there = {
        name: [str(p).partition("=")[0] for p in inspect.signature(function).parameters.values()]
        for name, function in vars(_core).items()
        if inspect.isbuiltin(function)
    }
    assert there == written
