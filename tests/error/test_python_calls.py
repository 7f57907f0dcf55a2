"""Wrong calls from Python: each is a clear error that names function and argument."""

from __future__ import annotations

import kernpack
import numpy as np
import pytest

SOURCE = r"""
int add(int a, int b) { return a + b; }
void throw_int() { throw 42; }
void fail_oddly() { KP_THROW(OddError) << "odd"; }
void rows(kp::TensorView a, kp::TensorView w, int64_t n, kp::TensorView out) {}
void touch(kp::TensorView x) {}
"""
FUNCTIONS = {
    "add": None,
    "throw_int": None,
    "fail_oddly": None,
    "touch": None,
    "rows": "(a: T[N, D], w: T[D], *, n: int = 1) -> (out: T[N, D]) where T in {f32, f64}",
}


@pytest.fixture(scope="module")
def k() -> kernpack.Module:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="error_tests")


A = np.zeros((4, 8), dtype=np.float32)
W = np.zeros(8, dtype=np.float32)
FROZEN = np.zeros((4, 8), dtype=np.float32)
FROZEN.flags.writeable = False


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda k: k.rows(A), TypeError, r"rows\(\) missing 1 required positional argument: 'w'; it takes \(a, w"),
        (lambda k: k.rows(A, W, 1), TypeError, r"rows\(\) takes 2 positional arguments but 3 were given"),
        (lambda k: k.rows(A, W, m=1), TypeError, r"rows\(\) got an unexpected keyword argument 'm'"),
        (lambda k: k.rows(A, W, a=A), TypeError, r"rows\(\) got multiple values for argument 'a'"),
        (lambda k: k.rows(A, W.astype(np.int32)), (TypeError, ValueError), r"rows: w: .*i32"),
        (lambda k: k.rows(A, W.astype(np.float64)), (TypeError, ValueError), r"rows: w: .*f64"),
        (lambda k: k.rows(A[0], W), ValueError, r"rows: a: "),
        (lambda k: k.rows(A, W[:5]), ValueError, r"rows: w: .*8"),
        (lambda k: k.rows(A[:, ::-1], W), ValueError, r"rows: a: .*contiguous"),
        (lambda k: k.rows(A, [1.0]), TypeError, r"rows: w: "),
        (lambda k: k.rows(A, None), TypeError, r"rows: w: "),
        (lambda k: k.rows(A, W, n=float("nan")), TypeError, r"rows: n: expected int"),
        (lambda k: k.rows(A, W, n=2**64), OverflowError, r"rows: n: expected an int of 64 bits"),
        (lambda k: k.rows(A, W, out=FROZEN), ValueError, r"rows: out: expected a writeable array.*read-only"),
        (lambda k: k.rows(A, W, out=A), ValueError, r"rows: out: .*overlap"),
        (lambda k: k.rows(A, W, out=(A, A)), TypeError, r"rows: out: expected a tuple of 1 tensor, got 2"),
        (lambda k: k.rows(A, W, out=np.zeros((4, 7), np.float32)), ValueError, r"rows: out: "),
        (lambda k: k.rows(A.astype(">f4"), W), TypeError, r"rows: a: .*byte-swapped"),
        (lambda k: k.rows(A.astype(object), W), TypeError, r"rows: a: .*object"),
        (lambda k: k.touch(FROZEN), ValueError, r"touch: argument 0: expected a writeable array"),
        (lambda k: k.touch(np.zeros(9, np.uint8)[1:].view(np.float64)), ValueError, r"touch: argument 0: .*aligned"),
        (lambda k: k.add(1), TypeError, r"add: expected 2 arguments, got 1"),
        (lambda k: k.add(1, 2**40), ValueError, r"add: argument 1: .*32 bits"),
        (lambda k: k.add(1, 1.5), TypeError, r"add: argument 1: expected int, got float"),
        (lambda k: k.add(1, b=2), TypeError, r"add\(\) takes no keyword arguments"),
        (lambda k: k.ad, AttributeError, r"no function 'ad'; did you mean 'add'"),
    ],
)
def test_wrong_calls(k, call, kind, text):
    with pytest.raises(kind, match=text):
        call(k)


def test_whatever_a_kernel_throws_is_an_exception(k):
    with pytest.raises(RuntimeError):
        k.throw_int()
    with pytest.raises(kernpack.KernelError, match="odd") as caught:
        k.fail_oddly()
    assert caught.value.kind == "OddError"


class Producer:
    def __init__(self, capsule: object, device: object = (1, 0)) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **arguments: object) -> object:
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule

    def __dlpack_device__(self) -> object:
        return self.device


@pytest.mark.parametrize(
    ("producer", "text"),
    [
        (Producer(RuntimeError("no")), r"touch: argument 0: __dlpack__ of Producer failed: RuntimeError: no"),
        (Producer(17), r"touch: argument 0: expected a DLPack capsule .*got int"),
        (Producer(17, "cpu"), r"touch: argument 0: __dlpack_device__ of Producer gave no \(type, index\)"),
        (Producer(np.datetime_data), r"touch: argument 0: expected a DLPack capsule"),
    ],
    ids=["raises", "junk", "junk-device", "function"],
)
def test_producers_that_misbehave(k, producer, text):
    with pytest.raises(BufferError, match=text):
        k.touch(producer)


def test_a_used_capsule_is_refused(k):
    capsule = W.__dlpack__()
    k.touch(Producer(capsule))
    with pytest.raises(BufferError, match="capsule"):
        k.touch(Producer(capsule))


@pytest.mark.parametrize("name", ["no_such_package_anywhere", "./no_such_file.so", "json"])
def test_loading_what_is_not_there(name):
    with pytest.raises((ImportError, FileNotFoundError)):
        kernpack.load(name)
