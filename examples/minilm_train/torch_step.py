"""Training in PyTorch: with our kernels and their declared gradients, and with torch's own operations."""

import itertools

import kernpack
import torch
from inputs import FROZEN, RATE, SCALE  # puts the model's folder on the path
from model import embed
from torch.nn import functional


class Own:
    """The operations of kernpack_kernels that the model uses, written with torch's."""

    @staticmethod
    def layer_norm(x, weight, bias, eps):
        return functional.layer_norm(x, weight.shape, weight, bias, eps)

    @staticmethod
    def embedding(table, indices):
        return functional.embedding(indices, table)

    @staticmethod
    def softmax(x, keep):
        return x.masked_fill(~keep, -torch.inf).softmax(-1)

    @staticmethod
    def gelu(x):
        return functional.gelu(x)

    @staticmethod
    def mean_pool(x, mask):
        kept = mask.unsqueeze(-1).to(x.dtype)
        return (x * kept).sum(-2) / kept.sum(-2)

    @staticmethod
    def l2_normalize(x):
        return functional.normalize(x, dim=-1)


def compute_loss(k, weights, batch):
    """Each sentence must find its partner among the eight of the other side."""
    left, right = embed(k, weights, batch).chunk(2)
    scores = left @ right.T * SCALE
    target = torch.arange(len(scores))
    return (functional.cross_entropy(scores, target) + functional.cross_entropy(scores.T, target)) / 2


def _steps(k, arrays, batches):
    weights = {name: torch.tensor(array, requires_grad=name != FROZEN) for name, array in arrays.items()}
    optimizer = torch.optim.SGD([weight for weight in weights.values() if weight.requires_grad], lr=RATE)
    for batch in itertools.cycle([{name: torch.from_numpy(a) for name, a in b.items()} for b in batches]):
        optimizer.zero_grad()
        loss = compute_loss(k, weights, batch)
        loss.backward()
        optimizer.step()
        yield loss.item()


def ours(arrays, batches):
    """Yields the loss of each step."""
    return _steps(kernpack.load("kernpack_kernels"), arrays, batches)


def reference(arrays, batches):
    """The same with torch's operations."""
    return _steps(Own, arrays, batches)
