// Functions whose accesses leave their memory, and what a checked build says of each; for every kind of target.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "ir/support.h"

namespace ir_test {

// `{kind}` is the module's own name: a process loads a module of one name once.
inline constexpr char kUnchecked[] = R"(module "unchecked_{kind}"
func gather(idx: i64[N], t: f32[M]) -> (o: f32[N]) { for i in 0..N { o[i] = t[idx[i]] } }
func gather_in_parallel(idx: i64[N], t: f32[M]) -> (o: f32[N]) { parallel i in 0..N { o[i] = t[idx[i]] } }
func gather_in_vectors(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  vectorized(8, masked) i in 0..N { o[i] = t[idx[i]] }
}
func gather_peeled(idx: i64[N], t: f32[M]) -> (o: f32[N]) { vectorized(4) i in 0..N { o[i] = t[idx[i]] } }
func gather_unrolled(idx: i64[N], t: f32[M]) -> (o: f32[4]) { unrolled i in 0..4 { o[i] = t[idx[i]] } }
func gather_narrow(idx: i32[N], t: f32[M]) -> (o: f32[N]) { for i in 0..N { o[i] = t[idx[i]] } }
func scatter(idx: i64[N], x: f32[M]) -> (o: f32[N]) {
  for i in 0..N { o[i] = 0.0 }
  for i in 0..N { o[idx[i]] = x[i] }
}
func gather_twice(idx: i64[N], t: i64[M]) -> (o: i64[N]) { for i in 0..N { o[i] = t[t[idx[i]]] } }
func matrix(idx: i64[N], t: f32[M]) -> (o: f32[N, 3]) {
  for i in 0..N { for j in 0..3 { o[i, j] = 0.0 } }
  for i in 0..N { o[i, idx[i]] = t[0] }
}
func local_memory(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  for i in 0..N {
    alloc mine: f32[3] local
    for j in 0..3 { mine[j] = 2.0 }
    o[i] = mine[idx[i]] + t[0]
  }
}
func work_memory(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  alloc mine: f32[M] workspace
  for j in 0..M { mine[j] = t[j] }
  for i in 0..N { o[i] = mine[idx[i]] }
}
func under_if(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  for i in 0..N { if idx[i] < 100 { o[i] = t[idx[i]] } else { o[i] = -1.0 } }
}
func with_mask(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  for i in 0..N { o[i] = load_if(t[idx[i]], idx[i] < 100, -1.0) }
}
func masked_vectors(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  for k in 0..N / 4 {
    let at = ramp(k * 4, 1, 4)
    let from = load_if(idx[at], idx[at] != 200, broadcast(0, 4))
    o[at] = load_if(t[from], from < broadcast(100, 4), broadcast(-1.0, 4))
  }
}
func summed(idx: i64[N], t: f32[M]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any 8, t[idx[i]]) }
func summed_in_order(idx: i64[N], t: f32[M]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, sequential, t[idx[i]]) }
func by_scalar(k: i64, t: f32[M]) -> (o: f32[1]) { o[0] = t[k] }
private func inner(from: f32[A], at: i64[B]) -> (to: f32[B]) { for i in 0..B { to[i] = from[at[i]] } }
func called(idx: i64[N], t: f32[M]) -> (o: f32[N]) { call inner(t, idx, o) }
)";

inline IRModule Unchecked(const std::string& kind, std::string text = kUnchecked) {
  const std::string place = "{kind}";
  return Parse(text.replace(text.find(place), place.size(), kind));
}

// How a function is called, and how the call ends: "" without an error.
struct UncheckedCall {
  const char* function;
  std::vector<int64_t> idx;
  const char* raises;
  std::vector<float> gives = {};  // where it ends well
};

inline const std::vector<UncheckedCall>& UncheckedCalls() {
  static const std::vector<UncheckedCall> calls = {
      {"gather", {2, 0, 1}, "", {12, 10, 11}},
      {"gather", {2, 3, 1}, "gather: t[idx[i]]: index 3 is out of range for axis 0 of extent 3"},
      {"gather", {0, 1, -1}, "gather: t[idx[i]]: index -1 is out of range for axis 0 of extent 3"},
      {"gather",
       {1, int64_t{1} << 62},
       "gather: t[idx[i]]: index 4611686018427387904 is out of range for axis 0 of extent 3"},
      {"gather_in_parallel", {2, 0, 1}, "", {12, 10, 11}},
      {"gather_in_parallel",
       {0, 9, 1},
       "gather_in_parallel: t[idx[i]]: index 9 is out of range for axis 0 of extent 3"},
      {"gather_in_vectors", {0, 1, 2, 0, 1, 2, 0, 1, 2, 1}, "", {10, 11, 12, 10, 11, 12, 10, 11, 12, 11}},
      {"gather_in_vectors",
       {0, 1, 2, 0, 1, -7, 0, 1, 2, 0},
       "gather_in_vectors: t[idx[i]]: index -7 is out of range for axis 0 of extent 3"},
      {"gather_in_vectors",
       {0, 1, 2, 0, 1, 2, 0, 1, 2, 33},
       "gather_in_vectors: t[idx[i]]: index 33 is out of range for axis 0 of extent 3"},
      {"gather_peeled", {0, 1, 2, 0, 8}, "gather_peeled: t[idx[i]]: index 8 is out of range for axis 0 of extent 3"},
      {"gather_unrolled", {0, 1, 2, 4}, "gather_unrolled: t[idx[i]]: index 4 is out of range for axis 0 of extent 3"},
      {"gather_unrolled", {0, 1, 2}, "gather_unrolled: idx[i]: index 3 is out of range for axis 0 of extent 3"},
      {"gather_narrow", {0, -1}, "gather_narrow: t[idx[i]]: index -1 is out of range for axis 0 of extent 3"},
      {"scatter", {1, 2, 0}, "", {12, 10, 11}},
      {"scatter", {1, 3, 0}, "scatter: o[idx[i]]: index 3 is out of range for axis 0 of extent 3"},
      {"gather_twice", {1}, "gather_twice: t[t[idx[i]]]: index 11 is out of range for axis 0 of extent 3"},
      {"gather_twice", {5}, "gather_twice: t[idx[i]]: index 5 is out of range for axis 0 of extent 3"},
      {"matrix", {2, 0}, "", {0, 0, 10, 10, 0, 0}},
      {"matrix", {2, 3}, "matrix: o[i, idx[i]]: index 3 is out of range for axis 1 of extent 3"},
      {"local_memory", {2}, "", {12}},
      {"local_memory", {3}, "local_memory: mine[idx[i]]: index 3 is out of range for axis 0 of extent 3"},
      {"work_memory", {2}, "", {12}},
      {"work_memory", {-2}, "work_memory: mine[idx[i]]: index -2 is out of range for axis 0 of extent 3"},
      {"under_if", {1, 100}, "", {11, -1}},
      {"under_if", {1, 99}, "under_if: t[idx[i]]: index 99 is out of range for axis 0 of extent 3"},
      {"with_mask", {1, 100}, "", {11, -1}},
      {"with_mask", {1, 99}, "with_mask: t[idx[i]]: index 99 is out of range for axis 0 of extent 3"},
      {"masked_vectors", {1, 100, 200, 2}, "", {11, -1, 10, 12}},
      {"masked_vectors", {1, 100, 77, 2}, "masked_vectors: t[from]: index 77 is out of range for axis 0 of extent 3"},
      {"summed", {0, 1, 2, 0, 1, 2, 0, 1, 2}, "", {99}},
      {"summed", {0, 1, 2, 0, 1, 2, 0, 1, 3}, "summed: t[idx[i]]: index 3 is out of range for axis 0 of extent 3"},
      {"summed_in_order", {0, -3}, "summed_in_order: t[idx[i]]: index -3 is out of range for axis 0 of extent 3"},
      {"by_scalar", {2}, "", {12}},
      {"by_scalar", {3}, "by_scalar: t[k]: index 3 is out of range for axis 0 of extent 3"},
      {"called", {0, 2}, "", {10, 12}},
      {"called", {0, 3}, "inner: from[at[i]]: index 3 is out of range for axis 0 of extent 3"},
  };
  return calls;
}

// Runs a function with the results among the arguments, and says what it raises.
using Caller = std::function<std::string(const std::string& function, const std::vector<KpAny>& args)>;

inline void ExpectCheckedCalls(const IRModule& module, const Caller& call) {
  for (const UncheckedCall& c : UncheckedCalls()) {
    const FuncNode& f = *module.Find(c.function);
    const auto n = static_cast<int64_t>(c.idx.size());
    std::vector<int32_t> narrow(c.idx.begin(), c.idx.end());
    Array idx = Array::Of<int64_t>(kI64, {n}, c.idx), narrow_idx = Array::Of<int32_t>(kI32, {n}, narrow);
    Array t = Array::Of<float>(kF32, {3}, {10, 11, 12}), whole = Array::Of<int64_t>(kI64, {3}, {10, 11, 12});
    const Buffer& result = f.params[2].buffer;
    std::vector<int64_t> shape{result->shape[0]->op == Op::kConst ? static_cast<int64_t>(result->shape[0]->bits()) : n};
    if (result->shape.size() == 2) shape.push_back(3);
    Array o(result->element, shape);
    const KpAny first = f.params[0].var                       ? Int(c.idx[0])
                        : f.params[0].buffer->element == kI32 ? narrow_idx.Value()
                                                              : idx.Value();
    const std::string raised =
        call(c.function, {first, f.params[1].buffer->element == kI64 ? whole.Value() : t.Value(), o.Value()});
    EXPECT_EQ(raised, *c.raises ? "IndexError: " + std::string(c.raises) : "") << c.function;
    for (size_t i = 0; i < c.gives.size(); ++i) EXPECT_EQ(o.as<float>()[i], c.gives[i]) << c.function << " " << i;
  }
}

}  // namespace ir_test
