"""The program of test_torch_distributed.py in each of four processes: MiniLM from its real weights, sharded, against one process."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "minilm"))

import data
import kernpack
import torch
import torch.distributed as dist
from model import embed
from support.ranks import run_cases
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
from torch.nn.parallel import DistributedDataParallel

k = kernpack.load("kernpack_kernels")
RANK = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=RANK, world_size=4)
torch.set_num_threads(1)
mesh = init_device_mesh("cpu", (4,))

SENTENCES = ["Leaves catch sunlight.", "The river rises in the hills.", "Bread is baked.", "He reads a book."] * 2
FROZEN = "embeddings.word_embeddings.weight"
weights = {n: torch.from_numpy(a.copy()) for n, a in data.load_weights().items() if not n.startswith("pooler")}
(batch,) = data.batches(data.tokenize(SENTENCES), len(SENTENCES))
inputs = {name: torch.from_numpy(array) for name, array in batch.items()}
mine = {name: tensor[RANK * 2 : RANK * 2 + 2] for name, tensor in inputs.items()}
with torch.no_grad():
    expected = embed(k, weights, inputs)


def same(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def run(placement_of_weights, placement_of_inputs) -> torch.Tensor:
    laid_out = {name: distribute_tensor(w, mesh, [placement_of_weights(name)]) for name, w in weights.items()}
    given = {name: distribute_tensor(t, mesh, [placement_of_inputs]) for name, t in inputs.items()}
    with torch.no_grad():
        return embed(k, laid_out, given)


def data_parallel() -> None:
    found = run(lambda name: Replicate(), Shard(0))
    assert found.placements == (Shard(0),)
    same(found.full_tensor(), expected)


def tensor_parallel() -> None:
    """Heads and hidden units are split; what follows adds the parts up."""

    def placement(name: str):
        if any(part in name for part in (".query.", ".key.", ".value.", ".intermediate.")):
            return Shard(0)
        return Shard(1) if name.endswith("output.dense.weight") else Replicate()

    same(run(placement, Replicate()).full_tensor(), expected)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name, weight in weights.items():
            parameter = torch.nn.Parameter(weight.clone(), requires_grad=name != FROZEN)
            self.register_parameter(name.replace(".", "/"), parameter)

    def forward(self, given):
        return embed(k, {name.replace("/", "."): value for name, value in self.named_parameters()}, given)


def step(model: torch.nn.Module, given) -> None:
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    (model(given) - 1).square().mean().backward()
    optimizer.step()


def trained_alike() -> None:
    """One step of DDP and of FSDP2 gives the weights that one process gives for the whole batch."""
    alone, ddp, fsdp = Model(), Model(), fully_shard(Model(), mesh=mesh)
    step(alone, inputs)
    step(DistributedDataParallel(ddp), mine)
    step(fsdp, mine)
    moved = 0
    for (name, wanted), a, b in zip(alone.named_parameters(), ddp.parameters(), fsdp.parameters(), strict=True):
        same(a.detach(), wanted.detach())
        same(b.full_tensor().detach(), wanted.detach())
        moved += not torch.equal(wanted, weights[name.replace("/", ".")])
    assert moved > 90, moved


run_cases(data_parallel, tensor_parallel, trained_alike)
