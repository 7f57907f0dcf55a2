// A call of attention that its tests make, and bf16 values of it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "attention/cpu/attention.h"

namespace kk {
namespace {

struct AttentionCase {
  int64_t queries, keys, shared, width;
  bool causal;
  int64_t window, length;  // 0: all
  float scale, soft_cap;
  bool masked;
};

inline std::string GetName(const ::testing::TestParamInfo<AttentionCase>& info) {
  const AttentionCase& c = info.param;
  std::string name = std::to_string(c.queries) + "x" + std::to_string(c.keys) + "heads" + std::to_string(c.shared) +
                     "width" + std::to_string(c.width);
  if (c.causal) name += "causal";
  if (c.window > 0) name += "window";
  if (c.length > 0) name += "length";
  if (c.scale < 0) name += "negative";
  if (c.soft_cap > 0) name += "capped";
  if (c.masked) name += "masked";
  return name;
}

// True if a query sees a key, masks aside.
inline bool SeesKey(const AttentionCase& c, int64_t query, int64_t key) {
  const int64_t length = c.length > 0 ? c.length : c.keys, last = c.causal ? length - c.queries + query : length - 1;
  return key <= last && key < length && (c.window == 0 || key > last - c.window);
}

inline float Number(Bf16 value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

inline Bf16 Rounded(double value) {
  const auto number = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline std::vector<Bf16> RandomValues(int64_t count, std::mt19937* random) {
  std::normal_distribution<double> normal;
  std::vector<Bf16> values(static_cast<size_t>(count));
  for (Bf16& value : values) value = Rounded(normal(*random));
  return values;
}

// The heads of one group beside the keys of one item, in tensors without gaps.
inline AttentionArgs<Bf16> MakeArgs(const AttentionCase& c, const Bf16* q, const Bf16* k, const Bf16* v,
                                    const int32_t* length, const float* mask) {
  AttentionArgs<Bf16> args = {};
  args.q = q, args.k = k, args.v = v;
  args.of_q = {0, c.shared * c.width, c.width};
  args.of_k = args.of_v = {0, c.width, c.width};
  args.batch = 1, args.queries = c.queries, args.heads = c.shared, args.keys = c.keys, args.groups = 1;
  args.width = c.width, args.scale = c.scale, args.soft_cap = c.soft_cap, args.causal = c.causal;
  args.window = c.window, args.lengths = c.length > 0 ? length : nullptr;
  if (c.masked) args.mask = {MaskKind::kFloat, mask, 0, 0, c.keys};
  return args;
}

}  // namespace
}  // namespace kk
