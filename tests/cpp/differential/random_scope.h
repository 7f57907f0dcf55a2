// State that the parts of a random function share while they are written.
#pragma once

#include "differential/features.h"
#include "differential/random_expr.h"

namespace ir_test {

// A function that others of its module call: (from: T[M], k: S) -> (to: T[M]), or (both!: T[M], k: S) -> ().
struct Callee {
  std::string name;
  Type element, scalar;
  bool in_place = false;
};

struct RandomScope {
  const Place place;
  RandomExpr e;
  FunctionBuilder f;
  Features features;
  std::optional<Callee> callee;
  Buffer out, second;  // [n, 4], [n]: row i belongs to iteration i

  RandomScope(uint64_t seed, std::string name, Place p) : place(p), e(seed), f(std::move(name)) {}

  bool Has(Feature feature) const { return features.test(static_cast<size_t>(feature)); }
  // Names differ, so that a schedule can say which loop it means.
  std::string Name(const char* base) { return base + std::to_string(names_++); }

  Expr Let(const char* base, const Expr& value) {
    const Expr made = f.Let(Name(base), value);
    e.scalars.push_back(made);
    return made;
  }

  // Of the type of a tensor's elements.
  Expr Value(const Buffer& to, int depth) {
    const Type t = to->element;
    return IsStorage(t) ? Cast(t, e.Make(kF32, depth - 1)) : e.Make(t, depth);
  }

  // Without memory: what host code of a device can compute, and what there is when no tensor has an element.
  template <class Body>
  void WithoutMemory(const Body& body) {
    std::vector<Buffer> none;
    e.readable.swap(none);
    body();
    e.readable.swap(none);
  }

  // Names that `body` declares are forgotten afterwards.
  template <class Body>
  void Inside(const Body& body) {
    const auto scalars = e.scalars.size(), readable = e.readable.size(), bounds = e.bounds.size();
    body();
    e.scalars.resize(scalars);
    e.readable.resize(readable);
    e.bounds.resize(bounds);
  }

  void Loop(const char* base, const Expr& begin, const Expr& end, const std::function<void(Expr)>& body,
            ForKind kind = ForKind::kSerial, int lanes = 0) {
    f.For(
        Name(base), begin, end,
        [&](Expr i) {
          Inside([&] {
            e.scalars.push_back(i);
            body(i);
          });
        },
        kind, lanes, e.Below(2) ? Tail::kPeeled : Tail::kMasked);
  }

  // Every element of a buffer with one or two constant extents.
  void Fill(const Buffer& buffer) {
    int64_t extent = 0;
    IsConstInt(buffer->shape[0], &extent);
    if (buffer->shape.size() == 1 && extent > 1 && (extent & (extent - 1)) == 0 && e.Below(2)) {
      const Type lanes = WithLanes(buffer->element, static_cast<int>(extent));
      return f.Store(buffer, {Ramp(Expr(0), Expr(1), lanes.lanes)}, e.Make(lanes, 3));
    }
    Loop("k", Expr(0), buffer->shape[0], [&](Expr k) {
      if (buffer->shape.size() == 1) return f.Store(buffer, {k}, e.Make(buffer->element, 3));
      Loop("l", Expr(0), buffer->shape[1], [&](Expr l) { f.Store(buffer, {k, l}, e.Make(buffer->element, 2)); });
    });
  }

  // An array of constant size; readable once it is filled.
  Buffer Local() {
    const std::vector<Expr> shapes[] = {{Expr(8)}, {Expr(8)}, {Expr(1)}, {Expr(5)}, {Expr(16)}, {Expr(3), Expr(4)}};
    const Buffer s = f.Alloc(Name("s"), e.AnyType(), shapes[e.Below(std::size(shapes))]);
    Fill(s);
    return s;
  }

  void Call(const Buffer& from, const Buffer& to) {
    const Expr scalar = e.Make(callee->scalar, 0);
    f.Add(ir_test::Call(callee->name, {scalar}, callee->in_place ? std::vector<Buffer>{to} : std::vector{from, to}));
  }

 private:
  int names_ = 0;
};

}  // namespace ir_test
