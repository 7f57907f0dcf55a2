// Stage programs that several tests schedule, and what they give in the interpreter.
#pragma once

#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/schedule/schedule.h>

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "../ir/support.h"

namespace schedule_test {

using namespace ir_test;

// o = x * 2 + 1
inline StageProgram Elementwise() {
  StageBuilder p("f");
  const Expr n = p.Dim("N"), d = p.Dim("D");
  const Buffer x = p.Input("x", kF32, {n, d});
  p.Result(p.Compute("o", {n, d}, [&](auto i) { return Load(x, i) * Expr(2.0f) + Expr(1.0f); }));
  return p.Finish();
}

// o = a @ b
inline StageProgram Matmul(int lanes = 0, Type type = kF32) {
  StageBuilder p("f");
  const Expr m = p.Dim("M"), n = p.Dim("N"), k = p.Dim("K");
  const Buffer a = p.Input("a", type, {m, k}), b = p.Input("b", type, {k, n});
  p.Result(p.Reduce("o", Op::kAdd, lanes, {m, n}, {k},
                    [&](auto i, auto r) { return Load(a, {i[0], r[0]}) * Load(b, {r[0], i[1]}); }));
  return p.Finish();
}

// o = softmax(x), by rows
inline StageProgram Softmax() {
  StageBuilder p("f");
  const Expr n = p.Dim("N"), d = p.Dim("D");
  const Buffer x = p.Input("x", kF32, {n, d});
  const Buffer m = p.Reduce("m", Op::kMax, 8, {n}, {d}, [&](auto i, auto k) { return Load(x, {i[0], k[0]}); });
  const Buffer e = p.Compute("e", {n, d}, [&](auto i) { return Unary(Op::kExp, Load(x, i) - Load(m, {i[0]})); });
  const Buffer s = p.Reduce("s", Op::kAdd, 8, {n}, {d}, [&](auto i, auto k) { return Load(e, {i[0], k[0]}); });
  p.Result(p.Compute("o", {n, d}, [&](auto i) { return Load(e, i) / Load(s, {i[0]}); }));
  return p.Finish();
}

// o[i] = t[i - 1] + t[i] + t[i + 1], 0 past the ends, where t = x * 3
inline StageProgram Stencil(Type type = kI32) {
  StageBuilder p("f");
  const Expr n = p.Dim("N");
  const Buffer x = p.Input("x", type, {n});
  const Buffer t = p.Compute("t", {n}, [&](auto i) { return Load(x, i) * ConstInt(type, 3); });
  p.Result(p.Compute("o", {n}, [&](auto i) {
    const Expr zero = ConstInt(type, 0), one(1);
    return MaskedLoad(t, {i[0] - one}, i[0] > Expr(0), zero) + Load(t, i) +
           MaskedLoad(t, {i[0] + one}, i[0] + one < n, zero);
  }));
  return p.Finish();
}

// Runs a function on inputs that follow from the seed; dims are the values of its shape variables. Gives the bytes of
// the results.
inline std::vector<std::byte> GetResults(const PrimFunc& f, const std::vector<int64_t>& dims, unsigned seed = 1) {
  std::map<const VarNode*, int64_t> value;
  const std::vector<Var> vars = ShapeVars(*f);
  for (size_t i = 0; i < vars.size(); ++i) value[vars[i].get()] = dims[i];
  const std::function<int64_t(const Expr&)> eval = [&](const Expr& e) -> int64_t {
    int64_t constant = 0;
    if (IsConstInt(e, &constant)) return constant;
    if (e->op == Op::kVar) return value.at(e->var().get());
    const int64_t a = eval(e->args[0]), b = eval(e->args[1]);
    return e->op == Op::kAdd ? a + b : e->op == Op::kSub ? a - b : e->op == Op::kMul ? a * b : a / b;
  };
  std::mt19937 random(seed);
  std::vector<Array> arrays;
  std::vector<KpAny> args;
  arrays.reserve(f->params.size());
  for (const Param& p : f->params) {
    std::vector<int64_t> shape;
    for (const Expr& e : p.buffer->shape) shape.push_back(eval(e));
    Array& a = arrays.emplace_back(p.buffer->element, shape);
    const size_t count = a.bytes.size() / static_cast<size_t>(a.type.itemsize());
    for (size_t i = 0; i < count && p.role == Role::kInput; ++i) {
      const double v = static_cast<double>(static_cast<int>(random() % 2001) - 1000) / (IsFloat(a.type) ? 300.0 : 1.0);
      if (a.type == kF64) a.as<double>()[i] = v;
      if (a.type == kI64) a.as<int64_t>()[i] = static_cast<int64_t>(v);
      if (a.type == kF32) a.as<float>()[i] = static_cast<float>(v);
      if (a.type == kF64) a.as<double>()[i] = v;
      if (a.type == kI32) a.as<int32_t>()[i] = static_cast<int32_t>(v);
      if (a.type == kernpack::i8) a.as<int8_t>()[i] = static_cast<int8_t>(static_cast<int>(v) % 100);
      if (a.type == kernpack::u8) a.as<uint8_t>()[i] = static_cast<uint8_t>(static_cast<int>(v) & 255);
      if (a.type == kernpack::i16) a.as<int16_t>()[i] = static_cast<int16_t>(static_cast<int>(v) * 32);
      if (a.type == kernpack::u16) a.as<uint16_t>()[i] = static_cast<uint16_t>(static_cast<int>(v) * 64);
      if (a.type == kernpack::bf16) {
        const float f = static_cast<float>(static_cast<int>(v * 8)) / 8;
        a.as<uint16_t>()[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16);
      }
    }
    args.push_back(a.Value());
  }
  Interpret(IRModule{"m", "", {f}}, f->name, args);
  std::vector<std::byte> out;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (f->params[i].role == Role::kResult) out.insert(out.end(), arrays[i].bytes.begin(), arrays[i].bytes.end());
  }
  return out;
}

}  // namespace schedule_test
