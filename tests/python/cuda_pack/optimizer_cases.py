"""Run by test_cuda_optimizers.py in processes of their own, with an emulated device: steps over lists of tensors, as on the CPU."""

import kernpack
import numpy as np
import pytest
from arrays import make
from on_device import K, View, run, to_device, to_host

# More tensors than a launch takes, more numbers than a block takes, and tails of every length.
SIZES = (5, 0, 1, 4096, 9001, *range(2, 70))
TOLERANCE = {"f32": 3e-6, "f16": 2e-3, "bf16": 1.6e-2}
F32 = "f32"


def lists(rng, *dtypes):
    """A list of each dtype: on the CPU, and on the device."""
    on_cpu = [[make(rng.normal(size=n), dtype)[0] for n in SIZES] for dtype in dtypes]
    return on_cpu, [[to_device(x) for x in each] for each in on_cpu]


def scalar(value):
    return to_device(np.array(value, np.float32))


def check(found, expected, dtype):
    for name, mine, theirs in zip(("params", "first moments", "second moments"), found, expected, strict=False):
        for a, b in zip(mine, theirs, strict=True):
            of = dtype if name == "params" else F32
            wide = to_host(to_device(b))
            np.testing.assert_allclose(to_host(a), wide, rtol=TOLERANCE[of], atol=TOLERANCE[of], err_msg=name)


def adamw(dtype):
    rng = np.random.default_rng(1)
    (*ours, means, squares), (*theirs, d_means, _) = lists(rng, dtype, F32, F32)
    squares = [np.abs(x) for x in squares]
    d_squares = [to_device(x) for x in squares]
    for step in (1, 2, 1000):
        (grads,), (d_grads,) = lists(rng, dtype)
        by = {"weight_decay": 0.1, "beta1": 0.8, "beta2": 0.95} if step == 2 else {}
        K.adamw(*ours, grads, means, squares, np.array(step, np.int32), np.array(0.02, np.float32), **by)
        number = to_device(np.array(step, np.int32))
        K.adamw(*theirs, d_grads, d_means, d_squares, number, scalar(0.02), **by)
        check((*theirs, d_means, d_squares), (*ours, means, squares), dtype)
        yield


def lion(dtype):
    rng = np.random.default_rng(2)
    (params, means), (d_params, d_means) = lists(rng, dtype, F32)
    for _ in range(2):
        (grads,), (d_grads,) = lists(rng, dtype)
        K.lion(params, grads, means, np.array(0.02, np.float32), weight_decay=0.1)
        K.lion(d_params, d_grads, d_means, scalar(0.02), weight_decay=0.1)
        check((d_params, d_means), (params, means), dtype)
        yield
    still = to_device(np.ones(3, np.float32))
    K.lion([still], [to_device(np.zeros(3, np.float32))], [to_device(np.zeros(3, np.float32))], scalar(0.1))
    assert (to_host(still) == 1).all()  # no direction, no step


def sgd(dtype):
    rng = np.random.default_rng(3)
    (params, momenta), (d_params, d_momenta) = lists(rng, dtype, F32)
    for nesterov in (False, True):
        (grads,), (d_grads,) = lists(rng, dtype)
        by = {"momentum": 0.9, "weight_decay": 0.1, "nesterov": nesterov}
        K.sgd(params, grads, momenta, np.array(0.02, np.float32), **by)
        K.sgd(d_params, d_grads, d_momenta, scalar(0.02), **by)
        check((d_params, d_momenta), (params, momenta), dtype)
        yield


def clip(dtype):
    rng = np.random.default_rng(4)
    for max_norm in (0.5, 1e6, 0.0):
        (grads,), (on_device,) = lists(rng, dtype)
        found, expected = K.clip_grad_norm(on_device, max_norm=max_norm), K.clip_grad_norm(grads, max_norm=max_norm)
        np.testing.assert_allclose(to_host(found), expected, rtol=1e-6)
        check((on_device,), (grads,), dtype)
        yield
    wrong = [to_device(make(np.array(x), dtype)[0]) for x in ([1.0, np.nan], [2.0])]
    assert np.isnan(to_host(K.clip_grad_norm(wrong, max_norm=1.0)))
    assert all(np.isnan(to_host(x)).all() for x in wrong)


def unaligned():
    """Tensors of which four numbers can't be read at once."""
    whole = np.arange(1, 41, dtype=np.float32)
    on_device = to_device(whole)
    views = [View(on_device, (size,), (1,), first, F32) for first, size in ((1, 7), (9, 31))]
    K.clip_grad_norm([whole[1:8], whole[9:40]], max_norm=1.0)
    K.clip_grad_norm([kernpack.from_dlpack(view) for view in views], max_norm=1.0)
    np.testing.assert_allclose(to_host(on_device), whole, rtol=1e-6)
    yield


def refusals():
    one, grad, mean, two = (to_device(np.ones(n, np.float32)) for n in (1, 1, 1, 2))
    for call, says in (
        (lambda: K.sgd([one], [], [mean], scalar(0.1)), "grads: expected as many tensors as params has, 1, got 0"),
        (lambda: K.sgd([one], [two], [mean], scalar(0.1)), "grads: item 0: expected 1 numbers"),
        (lambda: K.lion([one], [grad], [mean], scalar(0.1), beta1=1.0), "beta1: expected a number from 0 to below 1"),
        (lambda: K.clip_grad_norm([one], max_norm=-1.0), "max_norm: expected a number of at least 0, got -1"),
    ):
        with pytest.raises(ValueError, match=says):
            call()
        yield


run(globals())
