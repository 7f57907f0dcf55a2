"""Arrays of each framework in, results of the same framework out."""

from __future__ import annotations

import gc
import sys
import threading

import kernpack
import numpy as np
import pytest
import torch
from producer import Producer


def test_numpy_arrays_give_numpy_arrays(k):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = k.scale(x, f=3)
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, 3 * x)


def test_torch_tensors_give_torch_tensors(k):
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    y = k.scale(x)
    assert type(y) is torch.Tensor
    assert torch.equal(y, 2 * x)
    low, high = k.split(x)
    assert torch.equal(low, x - 1)
    assert torch.equal(high, x + 1)


def test_own_tensors(k):
    x = kernpack.from_dlpack(np.ones((2, 3), dtype=np.float32))
    y = k.scale(x)
    assert type(y) is kernpack.Tensor
    assert y.shape == (2, 3)
    assert str(y.dtype) == "f32"
    np.testing.assert_array_equal(y.numpy(), 2 * np.ones((2, 3)))
    assert torch.equal(torch.from_dlpack(y), torch.full((2, 3), 2.0))
    assert memoryview(y).shape == (2, 3)


def test_a_producer_of_dlpack_only(k):
    y = k.scale(Producer(np.ones(3, dtype=np.float32)))
    np.testing.assert_array_equal(np.from_dlpack(y), [2, 2, 2])


def test_a_read_only_producer_is_not_written_to(k):
    frozen = np.zeros(3, dtype=np.float32)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        k.bump(Producer(frozen))


def test_out_takes_one_tensor_or_a_tuple(k):
    x = np.arange(3, dtype=np.float32)
    out = np.empty(3, dtype=np.float32)
    assert k.scale(x, out=out) is out
    np.testing.assert_array_equal(out, 2 * x)
    low, high = np.empty(3, np.float32), np.empty(3, np.float32)
    assert k.split(x, out=(low, high))[1] is high
    np.testing.assert_array_equal(high, x + 1)


def test_buffers_are_tensors(k):
    data = bytearray(12)
    k.bump(memoryview(data).cast("f"))
    assert list(memoryview(data).cast("f")) == [1.0, 1.0, 1.0]


def test_zero_size_is_legal(k):
    assert k.scale(np.empty((0, 4), dtype=np.float32)).shape == (0, 4)
    assert k.scale(torch.empty(0, 4)).shape == (0, 4)


def test_arguments_are_not_leaked(k):
    x, t = np.ones(3, dtype=np.float32), torch.ones(3)
    gc.collect()
    before = sys.getrefcount(x), sys.getrefcount(t), kernpack._core.live_objects()
    for _ in range(200):
        k.scale(x), k.scale(t), k.echo([x, t])
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(t), kernpack._core.live_objects()) == before


def test_eight_threads(k):
    wrong = []

    def work(value: int) -> None:
        x = np.full(64, value, dtype=np.float32)
        wrong.extend(i for i in range(200) if k.scale(x)[0] != 2 * value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_parameters_are_fast_under_no_grad_and_refused_otherwise(k):
    weight = torch.nn.Parameter(torch.ones(3))
    with torch.no_grad():
        assert torch.equal(k.scale(weight), torch.full((3,), 2.0))
    with pytest.raises((TypeError, RuntimeError), match=r"scale: .*requires a gradient.*detach"):
        k.scale(weight)


@pytest.mark.parametrize(
    ("shape", "dtype", "nbytes"), [((3, 5), "f64", 120), ((3, 5), "i4", 8), ((), "f32", 4), ((0, 7), "f32", 0)]
)
def test_a_tensor_says_how_many_bytes_it_has(shape, dtype, nbytes):
    assert kernpack.empty(shape, dtype).nbytes == nbytes
