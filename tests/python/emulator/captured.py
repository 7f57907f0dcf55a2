"""Run by test_graphs.py in a process of its own: calls that are kept as a graph."""

import kernpack
import kernpack_compiler as kc
import kernpack_cuda_emulator as emulator
import numpy as np

TEXT = """module "captured_rows" func add_one(x: f32[N]) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = x[i] + 1.0 }
}"""

device = kernpack.device("cuda", 0)
add_one = kc.build(TEXT, "cuda -arch=compute_80").add_one


def there(*values):
    return kernpack.from_dlpack(np.array(values, np.float32)).to(device)


def shown(tensor):
    return np.from_dlpack(tensor.to("cpu")).tolist()


x, between, out, other = there(1, 2), there(0, 0), there(0, 0), there(10, 20)
kernpack.current_stream(device).sync()
stream = kernpack.Stream(device)
with kernpack.stream(stream):
    add_one(x, out=between)
    stream.sync()
    with emulator.captured(stream) as graph:
        add_one(x, out=between)
        add_one(between, out=out)
    stream.sync()
    print("captured, not run:", shown(out))
    graph.launch()
    stream.sync()
    print("run:", shown(out))
    x.copy_(other)
    graph.launch()
    stream.sync()
    print("run with other values:", shown(out))
    for what, inside in (
        ("waited for", stream.sync),
        ("captured inside", lambda: emulator.captured(stream).__enter__()),
        ("failed inside", lambda: 1 / 0),
    ):
        try:
            with emulator.captured(stream):
                inside()
        except Exception as error:
            print(f"{what}: {type(error).__name__}: {error}")
    with emulator.captured(stream) as graph:
        add_one(x, out=out)
    graph.launch()
    stream.sync()
    print("after that:", shown(out))
for wrong in (kernpack.current_stream(device), "a stream"):
    try:
        with emulator.captured(wrong):
            pass
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
