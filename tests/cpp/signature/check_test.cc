// Checking calls: every rule, with its error text.
#include "fixture.h"

namespace {

constexpr const char* kRmsNorm =
    "(x: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16, bf16}";
constexpr const char* kMatmul =
    "(a: T[..., M, K], b: T[~..., K, N], bias: T[N]? = None) -> (out: T[..., M, N]) where T in {f32, f64}";
constexpr const char* kTopk =
    "(x: f32[..., N], *, k: int) -> (values: f32[..., k], indices: i32[..., k]) where 0 < k <= N";

TEST(Check, BindsDimsAndDTypes) {
  Call call(kRmsNorm);
  call.Tensor({2, 3, 512}).Tensor({512}).Float(1e-5);
  ASSERT_EQ(call.Check("rms_norm"), "");
  EXPECT_EQ(call.frame.dims[0], 512);
  EXPECT_EQ(call.frame.batch_ndim, 2);
  EXPECT_EQ(call.ResultShape(0), (std::vector<int64_t>{2, 3, 512}));
  EXPECT_EQ(call.prototype.dtype.code, KP_DTYPE_FLOAT);
}

TEST(Check, NamesTheDimAndItsBinder) {
  Call call(kRmsNorm);
  call.Tensor({4, 512}).Tensor({256}).Float(0);
  EXPECT_EQ(call.Check("rms_norm"),
            "ValueError: rms_norm: weight: expected shape [D] with D = 512 (bound by x), got [256]\n"
            "    x:      f32[..., D] = [4, 512]\n"
            "    weight: f32[D]      = [256]\n"
            "                           ^^^ D is 512 in x");
}

#define CONVERT "\n    convert it first (NumPy and JAX: x.astype(dtype), torch: x.to(dtype))"

TEST(Check, DTypesMustBeInTheSetAndEqual) {
  EXPECT_EQ(Call("(x: f32[N]) -> ()").Tensor({1}, kF64).Check(),
            "TypeError: f: x: expected dtype f32, got f64" CONVERT);
  EXPECT_EQ(Call(kRmsNorm).Tensor({2}, kF64).Tensor({2}).Float(0).Check(),
            "TypeError: f: x: expected dtype T in {f32, f16, bf16}, got f64" CONVERT);
  EXPECT_EQ(Call(kRmsNorm).Tensor({2}).Tensor({2}, kF16).Float(0).Check(),
            "TypeError: f: weight: expected dtype T = f32 (bound by x), got f16" CONVERT);
  EXPECT_EQ(Call("(x: T[N]) -> () where T in any").Tensor({2}, KpDLDataType{KP_DTYPE_FLOAT, 32, 4}).Check(),
            "TypeError: f: x: expected dtype T in any, got f32x4" CONVERT);
}

TEST(Check, RanksMustBeThoseOfTheShape) {
  EXPECT_EQ(Call("(x: f32[M, K]) -> ()").Tensor({3}).Check(),
            "ValueError: f: x: expected shape [M, K] (2 dims), got [3] (1 dim)");
  EXPECT_EQ(Call(kMatmul).Tensor({3}).Tensor({1, 1}).None().Check(),
            "ValueError: f: a: expected shape [..., M, K] (at least 2 dims), got [3] (1 dim)");
  EXPECT_EQ(Call("(x: f32[3]) -> ()").Tensor({4}).Check(), "ValueError: f: x: expected shape [3], got [4]");
}

TEST(Check, ExpressionsSayWhatTheyComeTo) {
  const char* text = "(x: f32[N], y: f32[2 * N + k], *, k: int) -> ()";
  EXPECT_EQ(Call(text).Tensor({3}).Tensor({7}).Int(1).Check(), "");
  EXPECT_EQ(Call(text).Tensor({3}).Tensor({8}).Int(1).Check(),
            "ValueError: f: y: expected shape [2 * N + k] with 7 at dim -1 for N = 3, k = 1, got [8]\n"
            "    x: f32[N]         = [3]\n"
            "    y: f32[2 * N + k] = [8]\n"
            "                         ^ must be 7");
  EXPECT_EQ(Call("(x: f32[k], *, k: int) -> ()").Tensor({3}).Int(4).Check(),
            "ValueError: f: x: expected shape [k] with k = 4, got [3]");
  EXPECT_EQ(Call("(x: f32[_], y: f32[k], *, k: int) -> ()").Tensor({4}).Tensor({3}).Int(4).Check(),
            "ValueError: f: y: expected shape [k] with k = 4, got [3]")
      << "no tensor binds k";
  EXPECT_EQ(Call("(x: f32[2 * 3]) -> ()").Tensor({5}).Check(),
            "ValueError: f: x: expected shape [2 * 3] with 6 at dim -1, got [5]");
  EXPECT_EQ(Call("(y: f32[N + 1], x: f32[N]) -> ()").Tensor({4}).Tensor({3}).Check(), "")
      << "bound by a later parameter";
  EXPECT_EQ(Call("(x: f32[N], y: f32[N // k], *, k: int) -> ()").Tensor({3}).Tensor({3}).Int(0).Check(),
            "ValueError: f: y: expected shape [N // k], got a division by zero for N = 3, k = 0");
}

TEST(Check, ItemsOfAListOfIntsAreSizes) {
  const char* text = "(x: f32[N, s[1]], s: list[int]) -> (y: f32[(N - 1) // s[0] + 1]) where s[0] > 0";
  Call call(text);
  call.Tensor({7, 4}).Int(2).Int(4).Int(9).List(3);
  ASSERT_EQ(call.Check(), "");
  EXPECT_EQ(call.ResultShape(0), (std::vector<int64_t>{4}));
  EXPECT_EQ(Call(text).Tensor({7, 4}).Int(2).List(1).Check(),
            "ValueError: f: s: expected a list of at least 2 ints, got 1");
  EXPECT_EQ(Call(text).Tensor({7, 4}).List(0).Check(), "ValueError: f: s: expected a list of at least 2 ints, got 0");
  EXPECT_EQ(Call(text).Tensor({7, 4}).Int(2).Float(1).List(2).Check(), "TypeError: f: s[1]: expected int, got float");
  EXPECT_EQ(Call(text).Tensor({7, 3}).Int(2).Int(4).List(2).Check(),
            "ValueError: f: x: expected shape [N, s[1]] with 4 at dim -1 for s[1] = 4, got [7, 3]\n"
            "    x: f32[N, s[1]] = [7, 3]\n"
            "                          ^ must be 4");
  EXPECT_EQ(Call(text).Tensor({7, 4}).Int(0).Int(4).List(2).Check(), "ValueError: f: expected s[0] > 0, got s[0] = 0");
  Call negative("(s: list[int]) -> (y: f32[s[0]])");
  negative.Int(-1).List(1);
  ASSERT_EQ(negative.Check(), "");
  EXPECT_EQ(negative.ResultError(0), "ValueError: f: y: expected shape [s[0]], got a negative size");
}

TEST(Check, DivisionRoundsDownAndOverflowIsAnError) {
  const auto holds = [](const char* condition, int64_t a, int64_t b) {
    return Call(std::string("(*, a: int, b: int) -> () where ") + condition).Int(a).Int(b).Check();
  };
  EXPECT_EQ(holds("a // b == -4, a % b == 1", -7, 2), "");
  EXPECT_EQ(holds("a // b == -4, a % b == -1", 7, -2), "");
  EXPECT_EQ(holds("ceildiv(a, b) == 4", 7, 2), "");
  EXPECT_EQ(holds("ceildiv(a, b) == -3", -7, 2), "");
  EXPECT_EQ(holds("min(a, b) == 2, max(a, b) == 7, a - b == 5, -a < b", 7, 2), "");
  EXPECT_EQ(
      holds("a + b > 0", INT64_MAX, 1),
      "ValueError: f: expected a + b > 0, got a value that does not fit 64 bits for a = 9223372036854775807, b = 1");
  EXPECT_EQ(
      holds("a // b > 0", INT64_MIN, -1).find("ValueError: f: expected a // b > 0, got a value that does not fit"), 0u);
  EXPECT_EQ(holds("a % b == 0", INT64_MIN, -1), "");
  EXPECT_EQ(holds("a % b == 0", 1, 0), "ValueError: f: expected a % b == 0, got a division by zero for a = 1, b = 0");
  EXPECT_EQ(holds("a < b < 3", 1, 5), "ValueError: f: expected a < b < 3, got a = 1, b = 5");
}

TEST(Check, ConditionsHoldOrNameTheirValues) {
  EXPECT_EQ(Call(kTopk).Tensor({2, 5}).Int(5).Check(), "");
  EXPECT_EQ(Call(kTopk).Tensor({2, 5}).Int(7).Check("topk"),
            "ValueError: topk: expected 0 < k <= N, got k = 7, N = 5 (bound by x)");
  EXPECT_EQ(Call("(x: f32[N]?, *, k: int) -> () where k < N").None().Int(9).Check(), "") << "N is absent: holds";
  EXPECT_EQ(Call("(x: f32[N]?, *, k: int) -> () where 9 < k < N").None().Int(9).Check(), "") << "named last";
}

TEST(Check, BatchesMustBeEqualOrOne) {
  EXPECT_EQ(Call("(x: f32[..., D], y: f32[...]) -> ()").Tensor({2, 3, 4}).Tensor({2, 4}).Check(),
            "ValueError: f: y: expected shape [...] with ... = [2, 3] (bound by x), got [2, 4]\n"
            "    x: f32[..., D] = [2, 3, 4]\n"
            "    y: f32[...]    = [2, 4]\n"
            "                      ^^^^ ... is [2, 3] in x");
  EXPECT_EQ(Call(kMatmul).Tensor({2, 3, 4, 5}).Tensor({1, 3, 5, 6}).None().Check(), "");
  EXPECT_EQ(
      Call(kMatmul).Tensor({2, 3, 4, 5}).Tensor({4, 3, 5, 6}).None().Check(),
      "ValueError: f: b: expected shape [~..., K, N] with ... = [2, 3] (bound by a) or 1 in place of any of these, got "
      "[4, 3, 5, 6]\n"
      "    a: f32[..., M, K]  = [2, 3, 4, 5]\n"
      "    b: f32[~..., K, N] = [4, 3, 5, 6]\n"
      "                          ^^^^ ... is [2, 3] in a");
  EXPECT_EQ(
      Call(kMatmul).Tensor({2, 4, 5}).Tensor({5, 6}).None().Check().find("ValueError: f: b: expected shape [~..."), 0u)
      << "ranks are aligned";
}

TEST(Check, DimsTuplesBindSeveralDims) {
  Call call("(x: f32[A, *S, D], y: f32[*S]) -> (z: f32[*S, A])");
  call.Tensor({9, 2, 3, 4}).Tensor({2, 3});
  ASSERT_EQ(call.Check(), "");
  EXPECT_EQ(call.ResultShape(0), (std::vector<int64_t>{2, 3, 9}));
  EXPECT_EQ(Call("(x: f32[*S, D], y: f32[*S]) -> ()").Tensor({2, 4}).Tensor({3}).Check(),
            "ValueError: f: y: expected shape [*S] with S = [2] (bound by x), got [3]\n"
            "    x: f32[*S, D] = [2, 4]\n"
            "    y: f32[*S]    = [3]\n"
            "                     ^ S is [2] in x");
}

TEST(Check, DrawsTheTensorsThatMeetInADim) {
  const char* text = "(q: f32[H, N], k: f32[G, N], w: f32[*S, H // G, _], *, n: int) -> ()";
  EXPECT_EQ(Call(text).Tensor({8, 5}).Tensor({2, 5}).Tensor({1, 2, 3, 9}).Int(1).Check(),
            "ValueError: f: w: expected shape [*S, H // G, _] with 4 at dim -2 for H = 8, G = 2, got [1, 2, 3, 9]\n"
            "    q: f32[H, N]          = [8, 5]\n"
            "    k: f32[G, N]          = [2, 5]\n"
            "    w: f32[*S, H // G, _] = [1, 2, 3, 9]\n"
            "                                   ^ must be 4");
  EXPECT_EQ(Call("(x: f32[N, N]) -> ()").Tensor({3, 14}).Check(),
            "ValueError: f: x: expected shape [N, N] with N = 3 (bound by x), got [3, 14]\n"
            "    x: f32[N, N] = [3, 14]\n"
            "                       ^^ N is 3 in x");
  EXPECT_EQ(Call("(x: f32[N, 3]) -> ()").Tensor({7, 4}).Check(),
            "ValueError: f: x: expected shape [N, 3], got [7, 4]\n"
            "    x: f32[N, 3] = [7, 4]\n"
            "                       ^ must be 3");
  EXPECT_EQ(Call("(x: f32[..., D], y: f32[...]) -> ()").Tensor({2, 4}).Tensor({}).Check(),
            "ValueError: f: y: expected shape [...] with ... = [2] (bound by x), got []\n"
            "    x: f32[..., D] = [2, 4]\n"
            "    y: f32[...]    = []\n"
            "                      ^ ... is [2] in x");
}

TEST(Check, DrawsNothingThatIsTooWide) {
  const std::vector<int64_t> wide(30, 1000);
  EXPECT_EQ(Call("(x: f32[*S], y: f32[*S]) -> ()").Tensor(wide).Tensor({2}).Check().find('\n'), std::string::npos);
}

TEST(Check, AnEmptyListBindsNothing) {
  EXPECT_EQ(Call("(xs: list[f32[N]], y: f32[N], z: f32[N]) -> ()").List(0).Tensor({2}).Tensor({3}).Check(),
            "ValueError: f: z: expected shape [N] with N = 2 (bound by y), got [3]\n"
            "    y: f32[N] = [2]\n"
            "    z: f32[N] = [3]\n"
            "                 ^ N is 2 in y");
}

TEST(Check, ScalarsMustBeOfTheirKind) {
  EXPECT_EQ(Call("(k: int) -> ()").Float(1).Check(), "TypeError: f: k: expected int, got float");
  EXPECT_EQ(Call("(k: int) -> ()").Bool(true).Check(), "TypeError: f: k: expected int, got bool");
  EXPECT_EQ(Call("(k: float) -> ()").Int(1).Check(), "");
  EXPECT_EQ(Call("(k: float) -> ()").Bool(true).Check(), "TypeError: f: k: expected float, got bool");
  EXPECT_EQ(Call("(k: bool) -> ()").Int(1).Check(), "TypeError: f: k: expected bool, got int");
  EXPECT_EQ(Call("(k: dtype) -> ()").Str("f32").Check(), "TypeError: f: k: expected dtype, got str");
  EXPECT_EQ(Call("(k: device) -> ()").None().Check(), "TypeError: f: k: expected device, got None");
  EXPECT_EQ(Call("(k: int?) -> ()").None().Check(), "");
  EXPECT_EQ(Call("(m: str in {'a', 'b'}) -> ()").Str("b").Check(), "");
  EXPECT_EQ(Call("(m: str in {'a', 'b'}) -> ()").Str("c").Check(),
            "ValueError: f: m: expected one of \"a\", \"b\", got \"c\"");
  EXPECT_EQ(Call("(x: f32[]) -> ()").Float(1).Check(), "");
  EXPECT_EQ(Call("(x: f32[N]) -> ()").Float(1).Check(), "TypeError: f: x: expected a tensor of shape [N], got float");
}

TEST(Check, EachItemOfAListIsChecked) {
  const char* text = "(xs: list[f32[N]]) -> (y: f32[N])";
  EXPECT_EQ(Call(text).Tensor({2}).Tensor({2}).List(2).Check(), "");
  EXPECT_EQ(Call(text).Tensor({2}).Tensor({3}).List(2).Check(),
            "ValueError: f: xs[1]: expected shape [N] with N = 2 (bound by xs), got [3]\n"
            "    xs[0]: f32[N] = [2]\n"
            "    xs[1]: f32[N] = [3]\n"
            "                     ^ N is 2 in xs[0]");
  EXPECT_EQ(Call(text).Tensor({2}).Check(), "TypeError: f: xs: expected a list, got Tensor: put it in brackets");
  EXPECT_EQ(Call(text).Tensor({2}).Int(3).List(2).Check(),
            "TypeError: f: xs[1]: expected a tensor of shape [N], got int");
  Call empty(text);
  ASSERT_EQ(empty.List(0).Check(), "");
  EXPECT_EQ(empty.ResultError(0),
            "ValueError: f: y: expected arguments that fix its shape [N] and dtype, got only empty lists or numbers");
}

TEST(Check, DevicesMustBeTheSameOrThoseOfTheContract) {
  EXPECT_EQ(Call("(x: f32[N], y: f32[N]) -> ()").Tensor({1}, kF32, kCuda).Tensor({1}).Check(),
            "ValueError: f: y: expected device cuda:0 (that of x), got cpu: move one of them");
  EXPECT_EQ(Call("(x: f32[N], y: f32[N] @cpu) -> ()").Tensor({1}, kF32, kCuda).Tensor({1}).Check(), "");
  EXPECT_EQ(Call("(x: f32[N] @cpu) -> ()").Tensor({1}, kF32, kCuda).Check(),
            "ValueError: f: x: expected device cpu, got cuda:0: call .cpu() first");
  EXPECT_EQ(Call("(x: f32[N]) -> () with on \"cuda\"").Tensor({1}).Check(),
            "ValueError: f: expected tensors on cuda, got cpu: the function runs on cuda only");
  Call made("(*, n: int, device: device) -> (y: f32[n])");
  ASSERT_EQ(made.Int(2).Device(kCuda).Check(), "");
  EXPECT_EQ(made.ResultShape(0), std::vector<int64_t>{2});
  EXPECT_EQ(made.prototype.device.device_type, KP_DEVICE_CUDA);
}

TEST(Check, MemoryMustBeContiguousUnlessStrided) {
  EXPECT_EQ(Call("(x: f32[M, N]) -> ()").Tensor({2, 3}).Strides({1, 2}).Check(),
            "ValueError: f: x: expected a contiguous tensor, got shape [2, 3] with strides [1, 2]: pass a contiguous "
            "one (torch: x.contiguous(), NumPy: np.ascontiguousarray(x))");
  EXPECT_EQ(Call("(x: f32[M, N] strided) -> ()").Tensor({2, 3}).Strides({1, 2}).Check(), "");
  EXPECT_EQ(Call("(x: f32[M, N]) -> ()").Tensor({1, 3}).Strides({77, 1}).Check(), "")
      << "extent 1: its stride is irrelevant";
  EXPECT_EQ(Call("(x: f32[M, N]) -> ()").Tensor({0, 3}).Strides({5, 5}).Check(), "") << "no elements";
  Call fake("(x: f32[N]) -> ()");
  fake.Tensor({3}).At(0).data = nullptr;
  EXPECT_EQ(fake.Check(),
            "ValueError: f: x: expected a tensor with memory, got one whose data is NULL (a fake or meta tensor?)");
  EXPECT_EQ(fake.Check("f", KP_SIG_ABSTRACT), "");
  Call odd("(x: f32[N]) -> ()");
  odd.Tensor({3}).At(0).byte_offset = 2;
  EXPECT_EQ(odd.Check(),
            "ValueError: f: x: expected memory aligned to 4 bytes, got an address that is not: pass a copy");
  EXPECT_EQ(Call("(x: f32[N]) -> ()").Tensor({-1}).Check(),
            "ValueError: f: x: expected sizes of at least 0 whose product fits 64 bits, got [-1]");
  EXPECT_EQ(Call("(x: f32[M, N]) -> ()")
                .Tensor({INT64_MAX, 3})
                .Check()
                .find("ValueError: f: x: expected sizes of at least 0"),
            0u);
  Call junk("(x: f32[N]) -> ()");
  junk.Tensor({3}).At(0).ndim = -2;
  EXPECT_EQ(junk.Check(), "ValueError: f: x: expected a tensor of 0 to 64 dims with a shape, got -2 dims");
}

TEST(Check, DestinationsMustFitTheResults) {
  EXPECT_EQ(Call(kRmsNorm).Tensor({2, 4}).Tensor({4}).Float(0).Out({2, 4}).Check(), "");
  EXPECT_EQ(Call(kRmsNorm).Tensor({2, 4}).Tensor({4}).Float(0).Out({3, 4}).Check(),
            "ValueError: f: out: expected shape [..., D] = [2, 4], got [3, 4]");
  EXPECT_EQ(Call(kRmsNorm).Tensor({2, 4}).Tensor({4}).Float(0).Out({2, 4}, kF64).Check(),
            "TypeError: f: out: expected dtype f32, got f64");
  EXPECT_EQ(Call(kRmsNorm).Tensor({2, 4}).Tensor({4}).Float(0).Out({2, 4}, kF32, kCuda).Check(),
            "ValueError: f: out: expected device cpu (that of x), got cuda:0: move one of them");
  Call other(kRmsNorm);
  other.Tensor({2, 4}).Tensor({4}).Float(0).Out({2, 4});
  other.results[0].type_index = KP_TYPE_INT;
  EXPECT_EQ(other.Check(), "TypeError: f: out: expected a tensor of shape [..., D], got int");
}

TEST(Check, WrittenTensorsMustNotOverlapOthers) {
  Call call("(x: f32[N], y!: f32[N], z: f32[N] strided) -> (a: f32[N], b: f32[N])");
  call.Tensor({4}).Tensor({4}).Tensor({4}).Out({4}).Out({4});
  ASSERT_EQ(call.Check(), "");
  const auto overlap = [&](KpDLTensor& moved, const KpDLTensor& onto, int64_t bytes) {
    void* before = moved.data;
    moved.data = static_cast<char*>(onto.data) + bytes;
    std::string error = call.Check();
    moved.data = before;
    return error;
  };
  EXPECT_EQ(overlap(call.ResultAt(0), call.At(0), 12),
            "ValueError: f: a: expected memory of its own to write to, got a tensor that overlaps x: pass a copy");
  EXPECT_EQ(overlap(call.ResultAt(0), call.At(0), 16), "") << "adjacent";
  EXPECT_NE(overlap(call.ResultAt(0), call.ResultAt(1), 0), "");
  EXPECT_EQ(overlap(call.At(2), call.At(1), 0),
            "ValueError: f: y: expected memory of its own to write to, got a tensor that overlaps z: pass a copy");
  EXPECT_EQ(overlap(call.At(0), call.At(2), 0), "") << "two inputs may";
  Call strided("(y!: f32[N, M] strided, z: f32[N, M] strided) -> ()");
  strided.Tensor({3, 2}).Strides({4, 1}).Tensor({3, 2}).Strides({4, 1});
  strided.At(1).data = static_cast<char*>(strided.At(0).data) + 8;
  EXPECT_EQ(strided.Check(), "") << "columns beside each other";
  strided.At(1).data = static_cast<char*>(strided.At(0).data) + 4;
  EXPECT_EQ(strided.Check(),
            "ValueError: f: y: expected memory of its own to write to, got a tensor that overlaps z: pass a copy");
  Call window("(y!: f32[N, M] strided) -> ()");
  window.Tensor({3, 2}).Strides({1, 1});
  EXPECT_EQ(window.Check(),
            "ValueError: f: y: expected each element to have memory of its own to write to, got shape [3, 2] with "
            "strides [1, 1], where elements share it: pass a copy");
  Call itself("(y!: f32[N] strided) -> ()");
  itself.Tensor({4}).Strides({0});
  EXPECT_EQ(
      itself.Check(),
      "ValueError: f: y: expected each element to have memory of its own to write to, got a tensor with elements that "
      "share it (a stride of 0): pass a copy");
  Call empty("(y!: f32[N, D] strided) -> ()");
  empty.Tensor({5, 0}).Strides({0, 4});  // NumPy's strides of np.zeros((5, 0))
  EXPECT_EQ(empty.Check(), "");
}

TEST(Check, ResultsFollowFromArguments) {
  Call call("(x: T[N], *, k: int, d: dtype) -> (a: real(T)[N], b: complex(T)[k - 2], c: d[]) where T in {f32, c64}");
  call.Tensor({3}, kC64).Int(2).DType(kI32);
  ASSERT_EQ(call.Check(), "");
  call.ResultShape(0);
  EXPECT_EQ(call.prototype.dtype.code, KP_DTYPE_FLOAT);
  EXPECT_EQ(call.prototype.dtype.bits, 32);
  EXPECT_EQ(call.ResultShape(1), std::vector<int64_t>{0});
  EXPECT_EQ(call.prototype.dtype.code, KP_DTYPE_COMPLEX);
  call.ResultShape(2);
  EXPECT_EQ(call.prototype.dtype.code, KP_DTYPE_INT);
  call.args[1].v.v_int = 1;
  ASSERT_EQ(call.Check(), "");
  EXPECT_EQ(call.ResultError(1), "ValueError: f: b: expected shape [k - 2], got a negative size");
}

TEST(Check, TheWorkspaceIsWhatTheExpressionComesTo) {
  Call call("(x: T[M, N], *, k: int) -> () where T in any with workspace = numel(x) * itemsize(T) + k");
  call.Tensor({2, 3}, kF64).Int(10);
  ASSERT_EQ(call.Check(), "");
  ASSERT_EQ(call.WorkspaceError(), "");
  EXPECT_EQ(call.workspace_bytes, 58);
  call.args[1].v.v_int = -100;
  ASSERT_EQ(call.Check(), "");
  EXPECT_EQ(call.WorkspaceError(),
            "ValueError: f: expected workspace = numel(x) * itemsize(T) + k to be at least 0 bytes, got -52: k = -100");
  Call divided("(x: f32[N], *, k: int) -> () with workspace = N // k");
  divided.Tensor({3}).Int(0);
  ASSERT_EQ(divided.Check(), "");
  EXPECT_EQ(
      divided.WorkspaceError(),
      "ValueError: f: expected workspace = N // k to be at least 0 bytes, got a division by zero for N = 3, k = 0");
  Call empty("(xs: list[f32[N]]) -> () with workspace = 4 * N");
  empty.List(0);
  ASSERT_EQ(empty.Check(), "");
  EXPECT_EQ(empty.WorkspaceError(),
            "ValueError: f: expected arguments that fix workspace = 4 * N, got only empty lists");
}

}  // namespace
