"""Run by test_launch_kinds.py in a process of its own: `launch_kinds.py maps|cooperative`."""

import sys

import kernpack
import kernpack_compiler as kc
import numpy as np
from emulated import Behind

# Copies its first parameter, 128 bytes, to memory.
SHOW = """.version 8.0
.target sm_90
.address_size 64
.visible .entry show(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p; .reg .b32 %i; .reg .b64 %w, %from, %to;
  ld.param.u64 %to, [out]; mov.b64 %from, map; mov.u32 %i, 0;
$next:
  ld.param.u64 %w, [%from]; st.global.u64 [%to], %w;
  add.u64 %from, %from, 8; add.u64 %to, %to, 8; add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 16; @%p bra $next;
  ret;
}
"""
# Each block waits until all have arrived, and says how many it saw.
MEET = """.version 8.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 count, .param .u64 y)
{
  .reg .pred %p; .reg .b32 %all, %seen, %b, %t; .reg .b64 %count, %y, %o;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;
  @%p ret;
  ld.param.u64 %count, [count]; ld.param.u64 %y, [y];
  atom.global.add.u32 %seen, [%count], 1;
  mov.u32 %all, %nctaid.x;
$wait:
  ld.relaxed.gpu.global.u32 %seen, [%count];
  setp.lt.u32 %p, %seen, %all; @%p bra $wait;
  mov.u32 %b, %ctaid.x; mul.wide.u32 %o, %b, 4; add.s64 %y, %y, %o;
  st.global.u32 [%y], %seen;
  ret;
}
"""


def on_device(x: object) -> kernpack.Tensor:
    return kernpack.from_dlpack(x).to("cuda")


def back(x: kernpack.Tensor) -> np.ndarray:
    return np.from_dlpack(x.to("cpu"))


def maps() -> None:
    function = kc.import_kernel(
        SHOW,
        "(x: f32[L, M, N]) -> (y: u64[16])",
        args=["tensor_map(x, [2, 3, 8], swizzle=32, fill_nan=True)", "y"],
        grid=1,
        block=1,
    )
    k = kc.build_imported(function)
    whole = on_device(np.zeros((5, 6, 8), np.float32))
    print(*back(k.show(whole)))
    row = kc.import_kernel(SHOW, "(x: f64[N]) -> (y: u64[16])", args=["tensor_map(x, [4])", "y"], grid=1, block=1)
    misaligned = kernpack.from_dlpack(Behind(on_device(np.zeros(9))))
    wrong = ((kc.build_imported(row).show, misaligned), (k.show, on_device(np.zeros((5, 6, 5), np.float32))))
    for show, x in wrong:
        try:
            show(x)
        except ValueError as error:
            print(error)


def cooperative() -> None:
    function = kc.import_kernel(
        MEET,
        "(count!: u32[1], like: u32[B]) -> (y: u32[B])",
        args=["count", "y"],
        grid="B",
        block=1024,
        cooperative=True,
    )
    k = kc.build_imported(function)
    count = on_device(np.zeros(1, np.uint32))
    assert (back(k.meet(count, on_device(np.zeros(100, np.uint32)))) == 100).all()
    try:
        k.meet(count, on_device(np.zeros(10000, np.uint32)))
    except RuntimeError as error:
        print(error)


{"maps": maps, "cooperative": cooperative}[sys.argv[1]]()
