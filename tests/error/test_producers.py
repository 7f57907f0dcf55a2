"""Objects whose __dlpack__ misbehaves, and DLPack capsules with every field wrong once. Nothing crashes, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kernpack
import numpy as np
import pytest
from capsules import PADDED, READ_ONLY, Offer
from support.refusal import CONVERT, refused

W = np.zeros(8, np.float32)


class Producer:
    """Raises what it is given, or gives it back."""

    def __init__(self, capsule: object, device: object = (1, 0)) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **arguments: object) -> object:
        return _answer(self.capsule)

    def __dlpack_device__(self) -> object:
        return _answer(self.device)


def _answer(value: object) -> object:
    if isinstance(value, BaseException):
        raise type(value)(*value.args)  # a fresh one: an instance remembers each place it was raised at
    return value() if callable(value) else value


class NoDevice:
    def __dlpack__(self, **arguments: object) -> object:
        return 17


class NotCallable:
    __dlpack__ = 3
    __dlpack_device__ = 4


class RaisingProperty:
    @property
    def __dlpack__(self) -> object:
        raise ZeroDivisionError("property")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


NO_DEVICE = "returned no (type, index)"
JUNK: dict[str, tuple[Any, str]] = {
    "raises": (Producer(RuntimeError("no")), "__dlpack__ of Producer failed: RuntimeError: no"),
    "raises_out_of_memory": (Producer(MemoryError("huge")), "__dlpack__ of Producer failed: MemoryError: huge"),
    "raises_a_long_text": (
        Producer(RuntimeError("x" * 100_000)),
        f"__dlpack__ of Producer failed: RuntimeError: {'x' * 200}...",
    ),
    "gives_an_int": (Producer(17), "expected a DLPack capsule from __dlpack__ of Producer, got int"),
    "gives_none": (Producer(None), "expected a DLPack capsule from __dlpack__ of Producer, got NoneType"),
    "gives_itself": (Producer(lambda: Producer), "expected a DLPack capsule from __dlpack__ of Producer, got type"),
    "device_is_text": (
        Producer(17, "cpu"),
        f"__dlpack_device__ of Producer {NO_DEVICE}: ValueError: too many values to unpack (expected 2)",
    ),
    "device_is_none": (
        Producer(17, None),
        f"__dlpack_device__ of Producer {NO_DEVICE}: TypeError: cannot unpack non-iterable NoneType object",
    ),
    "device_raises": (Producer(17, OSError("dev")), f"__dlpack_device__ of Producer {NO_DEVICE}: OSError: dev"),
    "device_is_missing": (
        NoDevice(),
        f"__dlpack_device__ of NoDevice {NO_DEVICE}: AttributeError: 'NoDevice' object has no attribute '__dlpack_device__'",
    ),
    "device_beyond_int": (
        Producer(W.__dlpack__, (2**40, 0)),
        f"__dlpack_device__ of Producer {NO_DEVICE}: OverflowError: int too big to convert",
    ),
    "not_callable": (
        NotCallable(),
        f"__dlpack_device__ of NotCallable {NO_DEVICE}: TypeError: 'int' object is not callable",
    ),
    "property_that_raises": (
        RaisingProperty(),
        "__dlpack__ of RaisingProperty failed: ZeroDivisionError: property",
    ),
    "capsule_of_another_kind": (
        Producer(lambda: Offer(capsule="other").__dlpack__()),
        "expected an unused DLPack capsule, got one that was consumed already or has another name",
    ),
    "capsule_that_is_used_up": (
        Producer(lambda: Offer(capsule="used_dltensor_versioned").__dlpack__()),
        "expected an unused DLPack capsule, got one that was consumed already or has another name",
    ),
}


@pytest.mark.parametrize(("function", "argument"), [("bump", "x"), ("touch", "argument 0")])
@pytest.mark.parametrize("row", JUNK)
def test_producers_of_broken_tensors_are_refused(k, row: str, function: str, argument: str) -> None:
    producer, message = JUNK[row]
    refused(lambda: getattr(k, function)(producer), BufferError, f"{function}: {argument}: {message}", watch=[producer])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_passes_through(k, kind: type[BaseException]) -> None:
    refused(lambda: k.touch(Producer(kind("stop"))), kind, "stop")


def test_a_producer_that_calls_the_kernel_on_itself(k) -> None:
    class Recursive:
        def __dlpack__(self, **arguments: object) -> object:
            return k.touch(self)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    with pytest.raises(RecursionError):
        k.touch(Recursive())
    assert k.add(1, 2) == 3


def test_a_capsule_is_used_once(k) -> None:
    capsule = W.__dlpack__()
    once = Producer(lambda: capsule)
    k.touch(once)
    with pytest.raises(BufferError, match="one that was consumed already"):
        k.touch(once)


HALF = "more than half the address space"
UNKNOWN_DEVICE = "expected one that DLPack defines (1 is cpu, 2 is cuda)"
FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "ndim_negative": ({"ndim": -1}, "ndim is -1; expected 0 to 64"),
    "ndim_65": ({"ndim": 65}, "ndim is 65; expected 0 to 64"),
    "ndim_max": ({"ndim": 2**31 - 1}, "ndim is 2147483647; expected 0 to 64"),
    "shape_null": ({"shape": None}, "shape is NULL but ndim is 1"),
    "extent_negative": ({"shape": (-1,)}, "shape[0] is -1; expected 0 or more"),
    "extent_min": ({"shape": (-(2**63),)}, "shape[0] is -9223372036854775808; expected 0 or more"),
    "product_overflows": (
        {"shape": (2**40, 2**40)},
        "the product of its shape overflows 64 bits at shape[1] = 1099511627776",
    ),
    "product_overflows_before_a_zero": (
        {"shape": (2**40, 2**40, 0)},
        "the product of its shape overflows 64 bits at shape[1] = 1099511627776",
    ),
    "bytes_overflow": ({"shape": (2**62,)}, "4611686018427387904 elements of 32 bits overflow the address space"),
    "offset_2_63": ({"byte_offset": 2**63}, f"byte_offset is 9223372036854775808, {HALF}"),
    "offset_max": ({"byte_offset": 2**64 - 1}, f"byte_offset is 18446744073709551615, {HALF}"),
    "offset_that_wraps": ({"byte_offset": 2**64 - 64}, f"byte_offset is 18446744073709551552, {HALF}"),
    "bits_0": ({"bits": 0}, "dtype has 0 bits; expected at least 1"),
    "lanes_0": ({"lanes": 0}, "dtype has 0 lanes; expected at least 1"),
    "code_99": ({"code": 99}, "dtype code is 99; expected 0 to 17 (DLPack 1.x)"),
    "device_0": ({"device_type": 0}, f"device type 0 is unknown; {UNKNOWN_DEVICE}"),
    "device_999": ({"device_type": 999}, f"device type 999 is unknown; {UNKNOWN_DEVICE}"),
    "device_negative": ({"device_type": -1}, f"device type -1 is unknown; {UNKNOWN_DEVICE}"),
    "device_id_negative": ({"device_id": -1}, "device id is -1; expected 0 or more"),
    "data_null": ({"data": None}, "data is NULL but the shape has elements"),
    "stride_huge": ({"strides": (2**62,)}, "strides[0] = 4611686018427387904 with shape[0] = 8 overflows 64 bits"),
    "stride_min": ({"strides": (-(2**63),)}, "strides[0] = -9223372036854775808 with shape[0] = 8 overflows 64 bits"),
}
ENTRIES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "mutated": (lambda k, x: k.bump(x), "bump: x"),
    "in_a_list": (lambda k, x: k.many([x]), "many: xs"),
    "untyped": (lambda k, x: k.touch(x), "touch: argument 0"),
}


@pytest.mark.parametrize("versioned", [True, False], ids=["versioned", "unversioned"])
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("row", FIELDS)
def test_malformed_capsule(k, row: str, entry: str, versioned: bool) -> None:
    changes, message = FIELDS[row]
    call, where = ENTRIES[entry]
    offer = Offer(versioned=versioned, **changes)
    refused(lambda: call(k, offer), ValueError, f"{where}: DLPack: {message}")
    assert offer.alive == 0


@pytest.mark.parametrize("major", [0, 2, 2**32 - 1])
def test_another_major_version(k, major: int) -> None:
    offer = Offer(major=major)
    message = f"touch: argument 0: expected a DLPack 1.x capsule, got version {major}.0; upgrade kernpack"
    refused(lambda: k.touch(offer), BufferError, message)
    assert offer.alive == 0


WRONG_FOR_THE_SIGNATURE: dict[str, tuple[dict[str, Any], type[BaseException], str]] = {
    "read_only": (
        {"flags": READ_ONLY},
        ValueError,
        "expected a writeable tensor (it may be written to; pass a copy), got a read-only one",
    ),
    "vector_lanes": ({"lanes": 4}, TypeError, "expected dtype f32, got f32x4" + CONVERT),
    "three_bits": ({"bits": 3}, TypeError, "expected dtype f32, got dtype(code=2, bits=3, lanes=1)" + CONVERT),
    "complex_of_32_bits": (
        {"code": 5, "bits": 32},
        TypeError,
        "expected dtype f32, got dtype(code=5, bits=32, lanes=1)" + CONVERT,
    ),
    "no_dims": ({"shape": ()}, ValueError, "expected shape [N] (1 dim), got [] (0 dims)"),
    "no_dims_null_shape": ({"shape": None, "ndim": 0}, ValueError, "expected shape [N] (1 dim), got [] (0 dims)"),
    "stride_0": (
        {"strides": (0,)},
        ValueError,
        "expected a contiguous tensor, got shape [8] with strides [0]: pass a contiguous one (torch: x.contiguous(), NumPy: "
        "np.ascontiguousarray(x))",
    ),
    "misaligned": (
        {"byte_offset": 1},
        ValueError,
        "expected memory aligned to 4 bytes, got an address that is not: pass a copy",
    ),
}


@pytest.mark.parametrize("row", WRONG_FOR_THE_SIGNATURE)
def test_sound_capsule_that_does_not_fit(k, row: str) -> None:
    changes, kind, message = WRONG_FOR_THE_SIGNATURE[row]
    offer = Offer(**changes)
    refused(lambda: k.bump(offer), kind, f"bump: x: {message}")
    assert offer.alive == 0


@pytest.mark.parametrize("versioned", [True, False], ids=["versioned", "unversioned"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"deleter": None},
        {"shape": (0,), "data": None},
        {"shape": (2**40, 0)},
        {"strides": (1,)},
        {"shape": (1,), "strides": (2**62,)},
        {"byte_offset": 32},
        {"device_id": 5},
    ],
    ids=str,
)
def test_legal_capsules_are_taken_and_released(k, changes: dict[str, Any], versioned: bool) -> None:
    offer = Offer(versioned=versioned, **changes)
    k.touch(offer)
    assert offer.alive == 0


def test_a_later_minor_version_and_unknown_flags_are_legal(k) -> None:
    offer = Offer(minor=99, flags=1 << 40)
    k.bump(offer)
    assert offer.alive == 0


def test_elements_below_a_byte_that_take_one_each_are_refused(k) -> None:
    offer = Offer(code=17, bits=4, flags=PADDED)
    message = (
        "expected packed elements, got elements of 4 bits that take whole bytes each (DLPack says that they are padded); "
        "ask the producer for packed ones"
    )
    refused(lambda: k.touch(offer), BufferError, f"touch: argument 0: {message}")
    refused(lambda: kernpack.from_dlpack(offer), BufferError, f"kernpack: value: {message}")
    assert offer.alive == 0
    k.touch(Offer(flags=PADDED))  # an f32 fills its bytes: the flag says nothing about it
