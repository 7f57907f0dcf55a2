// Kernels that treat the tensors of a call wrongly, with one bug each, for the checking mode to find; the last ones are right.
// Written from the public docs: what an author may get wrong. planted_state.cc has the bugs in memory that kernels keep.
#include <kernpack/kernel.h>

#include <cstring>

namespace kp = kernpack;
using Out = kp::MutTensorView;  // results, what is marked `!`, and workspaces

namespace {

// Code of an author who ignores const.
float* Writable(kp::TensorView x) { return const_cast<float*>(x.data_ptr<float>()); }
const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* To(Out x) { return x.data_ptr<float>(); }

void Copy(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = In(x)[i];
}

// ---- inputs that are written ----
void WritesInput(kp::TensorView x, Out out) {
  Copy(x, out);
  Writable(x)[0] = 7;
}
void WritesInputAtItsEnd(kp::TensorView x, Out out) {
  Copy(x, out);
  Writable(x)[x.numel() - 1] += 1;
}
void SortsInPlace(kp::TensorView x, Out out) {
  float* p = Writable(x);
  for (int64_t i = 0; i < x.numel(); ++i) {
    for (int64_t j = i + 1; j < x.numel(); ++j) {
      if (p[j] < p[i]) std::swap(p[i], p[j]);
    }
  }
  Copy(x, out);
}
void WritesStridedInput(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.size(0); ++i) To(out)[i] = In(x)[i * x.stride(0)];
  Writable(x)[2 * x.stride(0)] = 7;
}
void WritesBetweenStrides(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.size(0); ++i) To(out)[i] = In(x)[i * x.stride(0)];
  Writable(x)[1] = 7;
}
void WritesItem(kp::ListView<kp::TensorView> xs, Out out) {
  To(out)[0] = 0;
  Writable(xs[1])[1] = 7;
}
void WritesOptional(kp::TensorView x, std::optional<kp::TensorView> bias, Out out) {
  Copy(x, out);
  if (bias) Writable(*bias)[0] = 0;
}
void WritesInThreads(kp::TensorView x, Out out) {
  float* p = Writable(x);
  float* to = To(out);
  kp::parallel_for(x.numel(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = p[i] *= 2;
  });
}
void WritesWrongOfTwo(Out state, kp::TensorView delta, Out out) {
  To(out)[0] = 0;
  for (int64_t i = 0; i < delta.numel(); ++i) Writable(delta)[i] += To(state)[i];
}
void WritesBesideNumber(kp::TensorView x, kp::TensorView by, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = In(x)[i] * In(by)[0];
  Writable(x)[0] = 7;
}
void ChangesShape(kp::TensorView x, Out out) {
  Copy(x, out);
  const_cast<int64_t*>(x.raw().shape)[0] = 1;
}

// ---- beyond the ends ----
void WritesPastResult(kp::TensorView x, Out out) {
  for (int64_t i = 0; i <= x.numel(); ++i) To(out)[i] = 1;
}
void WritesBeforeResult(kp::TensorView x, Out out) {
  for (int64_t i = -1; i < x.numel(); ++i) To(out)[i] = 1;
}
void WritesPastInput(kp::TensorView x, Out out) {
  Copy(x, out);
  Writable(x)[x.numel() + 2] = 1;
}
void WritesPastMutated(Out x) { To(x)[x.numel()] = 1; }
void WritesPastDestination(kp::TensorView x, Out out) {
  Copy(x, out);
  To(out)[x.numel()] = 1;
}
void WritesPastWorkspace(kp::TensorView x, Out out, Out scratch) {
  Copy(x, out);
  std::memset(scratch.data_ptr(), 1, static_cast<size_t>(scratch.numel()) + 1);
}
void WritesPastEmpty(kp::TensorView x, Out out) {
  (void)x;
  To(out)[0] = 1;
}
void ClearsTooManyBytes(kp::TensorView x, Out out) {
  std::memset(out.data_ptr(), 0, static_cast<size_t>(x.numel()) * sizeof(double));
}
void ReadsPastInput(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = In(x)[i] + In(x)[i + 1];
}
void ReadsBeforeInput(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = In(x)[i] - In(x)[i - 1];
}

// ---- results that are not written ----
void NeverWrites(kp::TensorView x, Out out) { (void)x, (void)out; }
void ForgetsLast(kp::TensorView x, Out out) {
  for (int64_t i = 0; i + 1 < x.numel(); ++i) To(out)[i] = In(x)[i];
}
void ForgetsLastInt(kp::TensorView x, Out out) {
  for (int64_t i = 0; i + 1 < x.numel(); ++i) out.data_ptr<int32_t>()[i] = static_cast<int32_t>(In(x)[i]);
}
void ForgetsTailOfBytes(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel() / 8 * 8; ++i) out.data_ptr<int8_t>()[i] = 1;
}
void WritesEverySecond(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); i += 2) To(out)[i] = In(x)[i];
}
void ForgetsOneOfTwo(kp::TensorView x, Out low, Out high) {
  (void)high;
  Copy(x, low);
}
void ClearsTooFewBytes(kp::TensorView x, Out out) {
  std::memset(out.data_ptr(), 0, static_cast<size_t>(x.numel()));  // bytes, not elements
}
void ForgetsRemainder(kp::TensorView x, Out out) {  // a vectorised loop without its tail
  for (int64_t i = 0; i + 4 <= x.numel(); i += 4) std::memcpy(To(out) + i, In(x) + i, 16);
}
void ForgetsHalf(kp::TensorView x, Out out) {
  (void)x;
  out.data_ptr<kp::half>()[0] = kp::half(1.0F);
}
void ForgetsFlag(kp::TensorView x, Out out) {
  for (int64_t i = 0; i + 1 < x.numel(); ++i) out.data_ptr<bool>()[i] = In(x)[i] > 0;
}
void AccumulatesIntoResult(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[0] += In(x)[i];
}

// ---- more of each kind, planted once the checker was there ----
void ForgetsLastColumn(kp::TensorView x, Out out) {
  const int64_t columns = x.size(1);
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j + 1 < columns; ++j) out.data_ptr<double>()[i * columns + j] = In(x)[i * columns + j];
  }
}
void ForgetsImaginary(kp::TensorView x, Out out) {
  auto* parts = static_cast<float*>(out.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) parts[2 * i] = In(x)[i];
}
void WrapsIndicesInPlace(kp::TensorView x, kp::TensorView index, Out out) {
  auto* at = const_cast<int64_t*>(index.data_ptr<int64_t>());
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (at[i] < 0) at[i] += x.numel();
    To(out)[i] = In(x)[at[i]];
  }
}
void OnlyFirstBatch(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.size(-1); ++i) To(out)[i] = In(x)[i];
}
void ScattersOutOfRange(kp::TensorView index, Out out) {
  std::memset(out.data_ptr(), 0, static_cast<size_t>(out.nbytes()));
  for (int64_t i = 0; i < index.numel(); ++i) To(out)[index.data_ptr<int64_t>()[i]] = 1;
}
void WrongWidth(kp::TensorView x, Out out) {
  auto* to = static_cast<float*>(out.data_ptr());  // it is bf16
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = In(x)[i];
}
void ReturnsEarly(kp::TensorView x, bool enabled, Out out) {
  if (!enabled) return;
  Copy(x, out);
}
void ReadsPastHalves(kp::TensorView x, Out out) {
  const kp::half* in = x.data_ptr<kp::half>();
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<kp::half>()[i] = kp::half(float(in[i]) + float(in[i + 1]));
}
void ReadsPastInts(kp::TensorView x, Out out) {
  const auto* in = x.data_ptr<int64_t>();
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<int64_t>()[i] = in[i] + in[i + 1];
}

// ---- what lies around one tensor goes around another, or comes back to where it was ----
template <class T, class F>
void Map(kp::TensorView x, Out out, int64_t begin, int64_t end, F f) {
  for (int64_t i = begin; i < end; ++i) out.data_ptr<T>()[i] = f(x.data_ptr<T>()[i]);
}
template <class T>
void HalvesOneMore(kp::TensorView x, Out out) {
  Map<T>(x, out, 0, x.numel() + 1, [](T value) { return value / 2; });
}
template <class T>
void HalvesFromOneBefore(kp::TensorView x, Out out) {
  Map<T>(x, out, -1, x.numel(), [](T value) { return T(value / 2); });
}
template <class T>
void CopiesOneMore(kp::TensorView x, Out out) {
  Map<T>(x, out, 0, x.numel() + 1, [](T value) { return value; });
}
template <class T>
void CopiesOneMoreOfTwo(kp::TensorView x, kp::TensorView y, Out out, Out copy) {
  CopiesOneMore<T>(y, copy);
  Map<T>(x, out, 0, x.numel(), [](T value) { return value; });
}
template <class T>
void ScalesHalvesOneMore(kp::TensorView x, Out out) {
  Map<T>(x, out, 0, x.numel() + 1, [](T value) { return T(float(value) * 3); });
}
template <class T>
void NegatesInPlaceTwice(Out x) {  // ends with the sign that it had
  for (int k = 0; k < 2; ++k) {
    for (int64_t i = 0; i <= x.numel(); ++i) {
      volatile T zero = 0;
      x.data_ptr<T>()[i] = zero - x.data_ptr<T>()[i];
    }
  }
}
void SumsRowsInTiles(kp::TensorView x, Out out) {
  const int64_t columns = x.size(1);
  for (int64_t tile = 0; tile < x.size(0); tile += 4) {
    for (int64_t i = tile; i < tile + 4; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < columns; ++j) sum += In(x)[i * columns + j];
      To(out)[i] = sum;
    }
  }
}
void SumsPastEnd(kp::TensorView x, Out out) {  // another dtype than what is read
  double sum = 0;
  for (int64_t i = 0; i <= x.numel(); ++i) sum += static_cast<double>(In(x)[i]);
  *out.data_ptr<double>() = sum;
}
void SumsHalvesPastEnd(kp::TensorView x, Out out) {
  float sum = 0;
  for (int64_t i = 0; i <= x.numel(); ++i) sum += float(x.data_ptr<kp::bfloat16>()[i]);
  *To(out) = sum;
}

// ---- what lies between the elements ----
void ForgetsStrides(kp::TensorView x, Out out) { Copy(x, out); }
void ForgetsStridesOfInts(kp::TensorView x, Out out) {
  Map<int32_t>(x, out, 0, x.numel(), [](int32_t v) { return v; });
}
void ForgetsStridesInPlace(Out x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = To(x)[i];
}

// ---- truth values ----
void AsksMaskPastEnd(kp::TensorView mask, Out out) {
  int32_t count = 0;
  for (int64_t i = 0; i <= mask.numel(); ++i) count += mask.data_ptr<uint8_t>()[i] ? 1 : 0;
  *out.data_ptr<int32_t>() = count;
}
void AsksResult(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<uint8_t>()[i] = out.data_ptr<uint8_t>()[i] ? 1 : 2;
}
void GreatestOfOneMore(kp::TensorView x, Out out) {
  float greatest = In(x)[0];
  for (int64_t i = 1; i <= x.numel(); ++i) greatest = In(x)[i] > greatest ? In(x)[i] : greatest;
  *To(out) = greatest;
}

// ---- sizes ----
void WritesSmallerInts(kp::TensorView x, Out out) {
  auto* to = static_cast<int32_t*>(out.data_ptr());  // they are i64
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<int32_t>(In(x)[i]);
}
void WritesLowHalves(kp::TensorView x, Out out) {
  auto* to = static_cast<int32_t*>(out.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) to[2 * i] = static_cast<int32_t>(In(x)[i]);
}
void ForgetsValue(kp::TensorView x, Out out) { (void)x, (void)out; }
void ClearsRowBefore(Out x, int64_t row) {
  std::memset(To(x) + row * x.size(1), 0, 4 * static_cast<size_t>(x.size(1)));
}

// ---- nothing wrong: no check may complain ----
void Fine(Out state, kp::TensorView x, double eps, std::optional<kp::TensorView> bias, kp::ListView<kp::TensorView> xs,
          Out out, Out scratch) {
  auto* copy = static_cast<float*>(scratch.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) copy[i] = In(x)[i] * static_cast<float>(eps);
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = copy[i] + (bias ? In(*bias)[i] : 0) + In(xs[0])[i];
  for (int64_t i = 0; i < x.numel(); ++i) To(state)[i] += 1;
}
void FineBytes(kp::TensorView x, Out out) { std::memcpy(out.data_ptr(), x.data_ptr(), static_cast<size_t>(x.numel())); }
void FineGather(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) To(out)[i * x.size(1) + j] = In(x)[i * x.stride(0) + j * x.stride(1)];
  }
}
void FineStrided(Out x) {  // while somebody else is at work
  kp::Function::global("planted.other")();
  for (int64_t i = 0; i < x.size(0); ++i) To(x)[i * x.stride(0)] += 1;
}
void WritesBetweenMutated(Out x) {
  for (int64_t i = 0; i < x.size(0); ++i) To(x)[i] = 1;
}
void Fails(kp::TensorView x, Out out) {
  (void)out;
  KP_THROW(ValueError) << "x has " << x.numel();
}
void Crashes(kp::TensorView x, double eps, Out out) {
  (void)x, (void)eps, (void)out;
  *reinterpret_cast<volatile int*>(8) = 1;
}

}  // namespace

KP_MODULE("planted", "1.0.0");
KP_EXPORT(writes_input, WritesInput, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT(writes_input_at_its_end, WritesInputAtItsEnd, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT(sorts_in_place, SortsInPlace, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_strided_input, WritesStridedInput, "(x: f32[N] strided) -> (out: f32[N])");
KP_EXPORT(writes_between_strides, WritesBetweenStrides, "(x: f32[N] strided) -> (out: f32[N])");
KP_EXPORT(writes_item, WritesItem, "(xs: list[f32[N]]) -> (out: f32[1])");
KP_EXPORT(writes_optional, WritesOptional, "(x: f32[N], bias: f32[N]? = None) -> (out: f32[N])");
KP_EXPORT(writes_in_threads, WritesInThreads, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_wrong_of_two, WritesWrongOfTwo, "(state!: f32[N], delta: f32[N]) -> (out: f32[1])");
KP_EXPORT(writes_beside_number, WritesBesideNumber, "(x: f32[N], by: f32[]) -> (out: f32[N])");
KP_EXPORT(changes_shape, ChangesShape, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_past_result, WritesPastResult, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_before_result, WritesBeforeResult, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_past_input, WritesPastInput, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_past_mutated, WritesPastMutated, "(x!: f32[N]) -> ()");
KP_EXPORT(writes_past_destination, WritesPastDestination, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(writes_past_workspace, WritesPastWorkspace, "(x: f32[N]) -> (out: f32[N]) with workspace = 4 * N");
KP_EXPORT(writes_past_empty, WritesPastEmpty, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(clears_too_many_bytes, ClearsTooManyBytes, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(reads_past_input, ReadsPastInput, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(reads_before_input, ReadsBeforeInput, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(never_writes, NeverWrites, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT(forgets_last, ForgetsLast, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT(forgets_last_int, ForgetsLastInt, "(x: f32[N]) -> (out: i32[N])");
KP_EXPORT(forgets_tail_of_bytes, ForgetsTailOfBytes, "(x: f32[N]) -> (out: i8[N])");
KP_EXPORT(writes_every_second, WritesEverySecond, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(forgets_one_of_two, ForgetsOneOfTwo, "(x: f32[N]) -> (low: f32[N], high: f32[N])");
KP_EXPORT(clears_too_few_bytes, ClearsTooFewBytes, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(forgets_remainder, ForgetsRemainder, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(forgets_half, ForgetsHalf, "(x: f32[N]) -> (out: f16[N])");
KP_EXPORT(forgets_flag, ForgetsFlag, "(x: f32[N]) -> (out: bool[N])");
KP_EXPORT(accumulates_into_result, AccumulatesIntoResult, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(writes_between_mutated, WritesBetweenMutated, "(x!: f32[N] strided) -> ()");
KP_EXPORT(forgets_last_column, ForgetsLastColumn, "(x: f32[N, D]) -> (out: f64[N, D])");
KP_EXPORT(forgets_imaginary, ForgetsImaginary, "(x: f32[N]) -> (out: c64[N])");
KP_EXPORT(wraps_indices_in_place, WrapsIndicesInPlace, "(x: f32[N], index: i64[M]) -> (out: f32[M])");
KP_EXPORT(only_first_batch, OnlyFirstBatch, "(x: f32[..., N]) -> (out: f32[..., N])");
KP_EXPORT(scatters_out_of_range, ScattersOutOfRange, "(index: i64[N]) -> (out: f32[N])");
KP_EXPORT(wrong_width, WrongWidth, "(x: f32[N]) -> (out: bf16[N])");
KP_EXPORT(returns_early, ReturnsEarly, "(x: f32[N], enabled: bool = False) -> (out: f32[N])");
KP_EXPORT(reads_past_halves, ReadsPastHalves, "(x: f16[N]) -> (out: f16[N]) with deterministic");
KP_EXPORT(reads_past_ints, ReadsPastInts, "(x: i64[N]) -> (out: i64[N]) with deterministic");
KP_EXPORT(halves_one_more, HalvesOneMore<float>, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(halves_one_more_double, HalvesOneMore<double>, "(x: f64[N]) -> (out: f64[N])");
KP_EXPORT(halves_one_more_int, HalvesOneMore<int32_t>, "(x: i32[N]) -> (out: i32[N])");
KP_EXPORT(halves_from_one_before, HalvesFromOneBefore<float>, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(scales_halves_one_more, ScalesHalvesOneMore<kp::half>, "(x: f16[N]) -> (out: f16[N])");
KP_EXPORT(scales_bfloats_one_more, ScalesHalvesOneMore<kp::bfloat16>, "(x: bf16[N]) -> (out: bf16[N])");
KP_EXPORT(copies_one_more_f32, CopiesOneMore<float>, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(copies_one_more_f64, CopiesOneMore<double>, "(x: f64[N]) -> (out: f64[N])");
KP_EXPORT(copies_one_more_f16, CopiesOneMore<kp::half>, "(x: f16[N]) -> (out: f16[N])");
KP_EXPORT(copies_one_more_bf16, CopiesOneMore<kp::bfloat16>, "(x: bf16[N]) -> (out: bf16[N])");
KP_EXPORT(copies_one_more_i8, CopiesOneMore<int8_t>, "(x: i8[N]) -> (out: i8[N])");
KP_EXPORT(copies_one_more_u8, CopiesOneMore<uint8_t>, "(x: u8[N]) -> (out: u8[N])");
KP_EXPORT(copies_one_more_bool, CopiesOneMore<bool>, "(x: bool[N]) -> (out: bool[N])");
KP_EXPORT(copies_one_more_i16, CopiesOneMore<int16_t>, "(x: i16[N]) -> (out: i16[N])");
KP_EXPORT(copies_one_more_i32, CopiesOneMore<int32_t>, "(x: i32[N]) -> (out: i32[N])");
KP_EXPORT(copies_one_more_i64, CopiesOneMore<int64_t>, "(x: i64[N]) -> (out: i64[N])");
KP_EXPORT(copies_one_more_of_two, CopiesOneMoreOfTwo<uint8_t>, "(x: u8[N], y: u8[N]) -> (out: u8[N], copy: u8[N])");
KP_EXPORT(negates_in_place_twice, NegatesInPlaceTwice<float>, "(x!: f32[N]) -> ()");
KP_EXPORT(negates_doubles_in_place_twice, NegatesInPlaceTwice<double>, "(x!: f64[N]) -> ()");
KP_EXPORT(sums_rows_in_tiles, SumsRowsInTiles, "(x: f32[N, D]) -> (out: f32[N])");
KP_EXPORT(sums_past_end, SumsPastEnd, "(x: f32[N]) -> (out: f64[])");
KP_EXPORT(sums_halves_past_end, SumsHalvesPastEnd, "(x: bf16[N]) -> (out: f32[])");
KP_EXPORT(forgets_strides, ForgetsStrides, "(x: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(forgets_strides_of_ints, ForgetsStridesOfInts,
          "(x: i32[N, D] strided) -> (out: i32[N, D]) with deterministic");
KP_EXPORT(forgets_strides_in_place, ForgetsStridesInPlace, "(x!: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(asks_mask_past_end, AsksMaskPastEnd, "(mask: u8[N]) -> (out: i32[]) with deterministic");
KP_EXPORT(asks_result, AsksResult, "(x: f32[N]) -> (out: u8[N]) with deterministic");
KP_EXPORT(greatest_of_one_more, GreatestOfOneMore, "(x: f32[N]) -> (out: f32[]) with deterministic");
KP_EXPORT(writes_smaller_ints, WritesSmallerInts, "(x: f32[N]) -> (out: i64[N])");
KP_EXPORT(writes_low_halves, WritesLowHalves, "(x: f32[N]) -> (out: i64[N])");
KP_EXPORT(forgets_value, ForgetsValue, "(x: f32[N]) -> (out: i32[])");
KP_EXPORT(clears_row_before, ClearsRowBefore, "(x!: f32[N, D], row: int) -> ()");
KP_EXPORT(fine, Fine,
          "(state!: f32[N], x: f32[N], eps: float = 1e-5, bias: f32[N]? = None, *, xs: list[f32[N]]) -> (out: f32[N]) "
          "with workspace = 4 * N");
KP_EXPORT(fine_bytes, FineBytes, "(x: u8[N]) -> (out: u8[N])");
KP_EXPORT(fine_gather, FineGather, "(x: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(fine_strided, FineStrided, "(x!: f32[N] strided) -> ()");
KP_EXPORT(fails, Fails, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(crashes, Crashes, "(x: f32[N, D], *, eps: float = 1e-5) -> (out: f32[N])");
