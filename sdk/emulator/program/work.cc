#include "program/work.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

// m16n8k16: 16 * 8 * 16. 0 for anything else.
uint32_t Product(std::string_view shape) {
  uint32_t product = 1;
  for (const char letter : {'m', 'n', 'k'}) {
    if (shape.empty() || shape.front() != letter) return 0;
    uint32_t extent = 0;
    const auto [end, error] = std::from_chars(shape.data() + 1, shape.data() + shape.size(), extent);
    if (error != std::errc()) return 0;
    product *= extent;
    shape.remove_prefix(static_cast<size_t>(end - shape.data()));
  }
  return shape.empty() ? product : 0;
}

// mma.sync.aligned.m16n8k16.row.col, then the types of D, A, B and C.
ArithmeticWork OfMatrices(const std::vector<std::string_view>& parts) {
  const auto shape = std::find_if(parts.begin(), parts.end(), [](std::string_view part) { return Product(part) != 0; });
  if (shape == parts.end() || parts.size() < 4) return {};
  return {"matrix_" + std::string(parts[parts.size() - 3]), 0, 2 * Product(*shape)};
}

// wgmma.mma_async.sync.aligned.m64n64k16, then the types of D, A and B: four warps share it.
ArithmeticWork OfWarpGroups(const std::vector<std::string_view>& parts) {
  constexpr size_t kShape = 4, kA = 6, kLeast = 8;
  if (parts.size() < kLeast || parts[1] != "mma_async") return {};
  return {"matrix_" + std::string(parts[kA]), 0, 2 * Product(parts[kShape]) / 4};
}

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 3> kOnce = {"add", "sub", "mul"};
constexpr std::array<std::string_view, 2> kFused = {"fma", "mad"};
constexpr std::array<std::string_view, 9> kSpecial = {"ex2", "lg2",   "sin",  "cos", "tanh",
                                                      "rcp", "rsqrt", "sqrt", "div"};
constexpr std::array<std::string_view, 4> kFloats = {"f16", "bf16", "f32", "f64"};

}  // namespace

ArithmeticWork GetWork(std::string_view op) {
  const Mnemonic mnemonic(op);
  if (mnemonic.opcode() == "mma") return OfMatrices(mnemonic.parts());
  if (mnemonic.opcode() == "wgmma") return OfWarpGroups(mnemonic.parts());
  std::string_view type = mnemonic.type();
  uint32_t elements = 1;
  if (type.size() > 2 && type.substr(type.size() - 2) == "x2") type.remove_suffix(2), elements = 2;
  if (!IsOneOf(type, kFloats)) return {};
  if (IsOneOf(mnemonic.opcode(), kSpecial)) return {"special", elements, 0};
  if (IsOneOf(mnemonic.opcode(), kOnce)) return {std::string(type), elements, 0};
  if (IsOneOf(mnemonic.opcode(), kFused)) return {std::string(type), 2 * elements, 0};
  return {};
}

}  // namespace kernpack::emulator
