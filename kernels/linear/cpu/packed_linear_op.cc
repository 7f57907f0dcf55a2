// packed_linear.
#include "packed_dense.h"
#include "dense_product.h"
#include "dispatch.h"
#include "packed_header.h"
#include "linear/contract.h"

namespace kk {
namespace {

template <class Level>
LinearCompute Compute(kp::StringView compute, int64_t rows) {
  if (compute == "i8") return LinearCompute::kInt8;
  if (compute == "i16") return LinearCompute::kInt16;
  if (compute == "bf16") return LinearCompute::kBf16;
  if (compute == "f32") return LinearCompute::kFloat;
  return LinearChoice<Level>::Automatic(rows);
}

// Scratch memory of this thread, 64-byte aligned, for what `activations` needs.
Activations MakeActivations(LinearCompute compute, bool words, int64_t rows, int64_t columns) {
  const int64_t count = rows * columns, blocks = count / kBlockColumns;
  Activations x = {compute, rows, columns, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  const kp::Workspace memory(kp::Device(), "linear activations", static_cast<uint64_t>(count * 4 + 64));
  auto* bytes = memory.data_as<uint8_t>();
  x.floats = reinterpret_cast<float*>(bytes);
  x.halves = reinterpret_cast<uint16_t*>(bytes);
  if (compute == LinearCompute::kInt8 || compute == LinearCompute::kInt16) {
    x.scales = x.floats;
    x.sums = x.scales + blocks;
    x.half_sums = x.sums + blocks;
    float* integers = x.half_sums + 2 * blocks;
    if (words) {
      x.words = reinterpret_cast<int16_t*>(integers);
    } else {
      x.bytes = reinterpret_cast<int8_t*>(integers);
      if (compute == LinearCompute::kInt16) x.low_bytes = x.bytes + count;
    }
  }
  return x;
}

// A second thread pays from about so many products on.
constexpr int64_t kProductsPerThread = 1 << 17;

template <class Level, class T>
void Run(const PackedWeight& weight, const Activations& x, const LinearResult<T>& result) {
  const bool few = x.compute == LinearCompute::kInt8 || x.compute == LinearCompute::kInt16 ||
                   (x.compute == LinearCompute::kFloat && x.rows <= 2);
  if (few) {
    const int64_t products = std::max<int64_t>(1, kGroupRows * x.columns * x.rows);
    kp::parallel_for(weight.groups(), std::max<int64_t>(1, kProductsPerThread / products),
                     [&](int64_t begin, int64_t end) { LinearRows<Level, T>(weight, x, result, begin, end); });
    return;
  }
  const int64_t panels = (weight.rows + kPanelRows - 1) / kPanelRows;
  const int64_t bands = (x.rows + kPanelActivations - 1) / kPanelActivations;
  const int64_t products = kPanelRows * std::max<int64_t>(1, x.columns) * std::min(x.rows, kPanelActivations);
  kp::parallel_for(
      panels * bands, std::max<int64_t>(1, kProductsPerThread / products), [&](int64_t begin, int64_t end) {
        const kp::Workspace scratch(kp::Device(), "linear panel", kPanelScratch * sizeof(float));
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = x.rows * (task / panels) / bands, last = x.rows * (task / panels + 1) / bands;
          LinearPanel<typename FloatLevel<Level>::Type, T>(weight, x, result, task % panels, first, last - first,
                                                           scratch.data_as<float>());
        }
      });
}

void CheckColumns(int64_t columns, int64_t of_weight) {
  KP_CHECK(columns == of_weight, ValueError)
      << "x: expected a last dimension of " << of_weight << ", the columns of the weight, got " << columns;
}

template <class Level, class T>
void Quantised(kp::TensorView x, int64_t rows, const PackedWeight& weight, kp::StringView compute,
               const LinearResult<T>& result) {
  const int64_t columns = LastDim(x);
  CheckColumns(columns, weight.columns);
  if (rows == 0) return;
  const Activations activations =
      MakeActivations(Compute<Level>(compute, rows), LinearChoice<Level>::Words(weight.format), rows, columns);
  ForRows(rows, columns,
          [&](int64_t begin, int64_t end) { PrepareActivations<Level, T>(Data<T>(x), activations, begin, end); });
  Run<Level, T>(weight, activations, result);
}

template <class Level, class W, class T>
void Dense(kp::TensorView x, int64_t rows, kp::TensorView packed, kp::StringView compute,
           const LinearResult<T>& result) {
  const DenseWeight<W> weight = ReadPackedDense<W>(packed);
  const int64_t columns = LastDim(x);
  CheckColumns(columns, weight.matrix.columns);
  KP_CHECK(compute != "i8" && compute != "i16", ValueError)
      << "compute: expected \"auto\", \"bf16\" or \"f32\" for a weight of pack_linear, got \"" << compute << "\"";
  using Floats = typename FloatLevel<Level>::Type;
  const bool exact_pairs = std::is_same_v<T, Bf16> && std::is_same_v<W, Bf16> && DenseChoice<Floats>::HasPairs();
  DenseProduct<Floats>(Contiguous(Data<T>(x), rows, columns), weight, result,
                       compute == "bf16" || (compute == "auto" && exact_pairs));
}

template <class Level>
void PackedLinear(kp::TensorView x, kp::TensorView packed, std::optional<kp::TensorView> bias,
                  std::optional<kp::TensorView> residual, kp::StringView compute, kp::StringView activation,
                  kp::MutTensorView out) {
  const int64_t rows = out.numel() / packed.size(0);
  DispatchLinear(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const LinearResult<T> result = {Data<T>(out), Data<T>(bias), Data<T>(residual), ParseActivation(activation)};
    if (packed.dtype() == kp::dtype_of<uint8_t>) {
      Quantised<Level>(x, rows, ReadPacked(packed), compute, result);
      return;
    }
    DispatchLinear(packed.dtype(),
                   [&](auto w) { Dense<Level, typename decltype(w)::Type>(x, rows, packed, compute, result); });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(packed_linear,
       "activation(x weight^T + bias) + residual, with a weight from pack_linear, pack_q4_0 or another "
       "pack function. compute selects the precision of the products: \"i8\" and \"i16\" round x to 8 or "
       "15 bits, with a scale for every 32 columns; \"bf16\" rounds x and weight to bf16; \"f32\" rounds "
       "neither. \"auto\" is \"i16\" for up to 4 rows, and otherwise the faster one of \"bf16\" and "
       "\"f32\"; for a weight from pack_linear it never rounds.");
KK_EXPORT_INTEGERS(packed_linear, kk::PackedLinear, KK_PACKED_LINEAR_CONTRACT);
