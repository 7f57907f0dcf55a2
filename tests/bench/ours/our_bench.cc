// The benchmark's functions, written with our SDK.
#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Nothing() {}
static void ThreeInts(int64_t, int64_t, int64_t) {}
static void ThreeTensors(kp::TensorView, kp::TensorView, kp::TensorView) {}
static void ThreeWritten(kp::MutTensorView, kp::MutTensorView, kp::MutTensorView) {}
static void NewLike(kp::TensorView, kp::MutTensorView) {}
static void Fail(int64_t value) { KP_THROW(ValueError) << "expected a positive value, got " << value; }
static void Node(kp::TensorView, int64_t, double, kp::MutTensorView) {}

KP_MODULE("our_bench", "1.0.0");
KP_EXPORT(nothing, Nothing);
KP_EXPORT(nothing_quick, Nothing, "() -> () with quick");
KP_EXPORT(three_ints, ThreeInts);
KP_EXPORT(three_ints_quick, ThreeInts, "(a: int, b: int, c: int) -> () with quick");
KP_EXPORT(three_tensors, ThreeTensors);
KP_EXPORT(three_checked, ThreeTensors, "(a: T[N, D], b: T[N, D], c: T[D]) -> () where T in {f32, f16}");
KP_EXPORT(three_written, ThreeWritten, "(a!: T[N, D], b!: T[N, D], c!: T[D]) -> () where T in {f32, f16}");
KP_EXPORT(new_like, NewLike, "(x: T[...]) -> (out: T[...]) where T in any");
KP_EXPORT(fail, Fail);
KP_EXPORT(node, Node, "(x: f32[N], *, k: int, s: float) -> (out: f32[N])");
