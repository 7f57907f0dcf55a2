// Arguments for any function of the IR, made from a seed: the same seed gives the same bytes.
#pragma once

#include <kernpack/float8.h>

#include <map>
#include <random>

#include "ir/support.h"

namespace ir_test {

using Dims = std::map<std::string, int64_t>;

// The value of an extent in terms of dims.
inline int64_t EvaluateExtent(const Expr& e, const Dims& dims) {
  int64_t value = 0;
  if (IsConstInt(e, &value)) return value;
  if (e->op == Op::kVar) return dims.at(e->var()->name);
  const int64_t a = EvaluateExtent(e->args[0], dims), b = e->args.size() > 1 ? EvaluateExtent(e->args[1], dims) : 0;
  if (e->op == Op::kAdd) return a + b;
  if (e->op == Op::kMul) return a * b;
  if (e->op == Op::kDiv || e->op == Op::kFloorDiv) return a / b;
  throw std::invalid_argument("extent of a test's parameter: " + Print(e));
}

// An element of any type: ends of the range and special values now and then.
class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double Real() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {0.0,  -0.0,  1.0,  -1.0,   0.5,
                                   kInf, -kInf, 1e10, -1e-10, std::numeric_limits<double>::quiet_NaN()};
    if (Below(8) == 0) return kSpecial[Below(std::size(kSpecial))];
    return static_cast<double>(Below(1 << 20)) / (1 << 17) - 4.0;
  }
  uint64_t Bits(Type t) {
    const uint64_t all = t.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << t.bits) - 1;
    if (t.code == KP_DTYPE_BOOL) return static_cast<uint64_t>(Below(2));
    if (!t.is_floating_point()) {
      const uint64_t special[] = {0, 1, all, all >> 1, (all >> 1) + 1};
      const int64_t kind = Below(4);
      if (kind == 0) return special[Below(5)];
      return kind < 3 ? static_cast<uint64_t>(Below(19) - 9) & all : random_() & all;
    }
    const auto narrow = static_cast<float>(Real());
    if (t == kF64) return std::bit_cast<uint64_t>(static_cast<double>(narrow));
    if (t == kF32) return std::bit_cast<uint32_t>(narrow);
    if (t == kernpack::f16) return kernpack::half(narrow).bits();
    if (t == kernpack::bf16) return kernpack::bfloat16(narrow).bits();
    return t == kernpack::f8_e4m3fn ? kernpack::float8_e4m3fn(narrow).bits() : kernpack::float8_e5m2(narrow).bits();
  }

 private:
  std::mt19937_64 random_;
};

// One call: tensors that own their memory, and scalars. Results start as a pattern that no function is likely to store.
class Arguments {
 public:
  Arguments(const FuncNode& f, const Dims& dims, uint64_t seed) {
    Values values(seed);
    const bool split = values.Below(2) == 0;
    for (const Param& p : f.params) {
      if (!p.buffer) {
        scalars_.push_back(Scalar(p.var->type, &values));
        order_.push_back(-static_cast<int>(scalars_.size()));
        continue;
      }
      std::vector<int64_t> shape;
      for (const Expr& e : p.buffer->shape) shape.push_back(EvaluateExtent(e, dims));
      if (p.has_any_rank() && split) {  // into [1, N, 1, ...]
        shape.insert(shape.begin() + 1, 1);
        shape.insert(shape.begin(), 1);
      }
      arrays_.emplace_back(p.buffer->element, shape);
      order_.push_back(static_cast<int>(arrays_.size() - 1));
      if (p.role == Role::kResult) {
        std::fill(arrays_.back().bytes.begin(), arrays_.back().bytes.end(), std::byte{0x01});
      } else {
        Fill(&arrays_.back(), &values);
      }
    }
  }

  std::vector<KpAny> Any() {
    std::vector<KpAny> out;
    for (const int i : order_) {
      out.push_back(i < 0 ? scalars_[static_cast<size_t>(-i - 1)] : arrays_[static_cast<size_t>(i)].Value());
    }
    return out;
  }
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  std::vector<Array> arrays_;
  std::vector<KpAny> scalars_;
  std::vector<int> order_;  // index of an array, or -1 - that of a scalar

  static void Fill(Array* a, Values* values) {
    const size_t size = static_cast<size_t>(a->type.itemsize());
    for (size_t at = 0; at < a->bytes.size(); at += size) {
      const uint64_t bits = values->Bits(a->type);
      std::memcpy(a->bytes.data() + at, &bits, size);
    }
  }
  static KpAny Scalar(Type t, Values* values) {
    if (t.is_floating_point()) return Float(values->Real());
    const uint64_t bits = values->Bits(t);
    if (t.code == KP_DTYPE_BOOL) {
      KpAny truth = Int(static_cast<int64_t>(bits));
      truth.type_index = KP_TYPE_BOOL;
      return truth;
    }
    if (t.code != KP_DTYPE_INT) return Int(static_cast<int64_t>(t.bits == 64 ? bits >> 1 : bits));
    const int drop = 64 - t.bits;
    return Int(static_cast<int64_t>(bits << drop) >> drop);
  }
};

}  // namespace ir_test
