// Expressions in the interpreter.
#include <kernpack/error.h>

#include "ir/machine.h"
#include "ir/message.h"
#include "ir/scalar.h"
#include "ir/take_in.h"
#include "target/host.h"

namespace kernpack::sdk::ir {

void Machine::Step() {
  constexpr uint64_t kBetweenChecks = 1 << 14;
  if (++steps_ % kBetweenChecks == 0) Check(Host()->check_interrupts(Host()));
  if (options_.max_steps && steps_ > options_.max_steps) {
    KP_THROW(RuntimeError) << "interpreter: gave up after " << options_.max_steps << " steps";
  }
}

std::byte* Machine::Place(const Buffer& buffer, const std::vector<Expr>& args, const std::vector<Value>& indices,
                          int lane, Thread* t) {
  const auto found = t->buffers.find(buffer.get());
  if (found == t->buffers.end()) KP_THROW(NameError) << buffer->name << ": used outside the block that declares it";
  const Memory& m = found->second;
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto i = static_cast<int64_t>(indices[d].lane[indices[d].lanes == 1 ? 0 : lane]);
    if (i < 0 || i >= m.shape[d]) {
      const int64_t values[] = {i, m.shape[d]};
      Text text;
      WriteWithValues(OutOfRangeMessage(function_->name, AccessText(buffer, args), d), values, 2, &text);
      throw Error("IndexError", text.bytes());
    }
    offset = offset * m.shape[d] + i;
  }
  return m.data + offset * static_cast<int64_t>(buffer->element.bits / 8);
}

void Machine::Touch(const Buffer& buffer, const std::byte* place, bool writes, bool keeps, Thread* t, Position at) {
  const Memory& m = t->buffers.at(buffer.get());
  const auto index = static_cast<size_t>(place - m.data) / (buffer->element.bits / 8);
  Touched& e = (*m.touched)[index];
  if (e.phase != phase_) e = {phase_};
  const auto meets = [t](int other) { return other >= 0 && other != t->id; };
  int other = -1;
  if (meets(e.writer) && (writes ? !keeps : !e.alike)) other = e.writer;
  if (writes && meets(e.reader)) other = e.reader;
  if (writes && meets(e.other_reader)) other = e.other_reader;
  if (other >= 0) {
    KP_THROW(RuntimeError) << buffer->name << ": threads " << other << " and " << t->id << " of a block touch element "
                           << index
                           << ", which is shared, with no barrier between, and at least one of them writes it (line "
                           << at.line << ')';
  }
  if (writes) {
    e.alike = e.alike || meets(e.writer);
    e.writer = t->id;
  } else if (e.reader < 0 || e.reader == t->id) {
    e.reader = t->id;
  } else {
    e.other_reader = t->id;
  }
}

Value Machine::EvalLoad(const ExprNode& e, Thread* t) {
  const bool masked = e.op == Op::kMaskedLoad;
  const size_t rank = e.args.size() - (masked ? 2 : 0);
  std::vector<Value> indices;
  for (size_t d = 0; d < rank; ++d) indices.push_back(Eval(e.args[d], t));
  Value mask, out;
  if (masked) {
    mask = Eval(e.args[rank], t);
    out = Eval(e.args[rank + 1], t);
  }
  out.lanes = e.type.lanes;
  for (int i = 0; i < out.lanes; ++i) {
    if (masked && !mask.lane[i]) continue;
    const std::byte* place = Place(e.buffer(), e.args, indices, i, t);
    if (e.buffer()->scope == Scope::kShared) Touch(e.buffer(), place, false, false, t, e.position);
    out.lane[i] = ReadLane(e.buffer()->element, place);
  }
  return out;
}

namespace {

// Halves are joined until one lane is left.
uint64_t Tree(Op op, Type type, uint64_t* lane, int lanes) {
  for (int half = lanes / 2; half; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] = EvalBinary(op, type, lane[i], lane[i + half]);
  }
  return lane[0];
}

}  // namespace

Value Machine::EvalReduce(const ExprNode& e, Thread* t) {
  const Reduction& r = std::get<Reduction>(e.detail);
  const int64_t begin = EvalInt(e.args[0], t), end = EvalInt(e.args[1], t);
  if (IsArg(r.op)) return EvalArg(e, begin, end, t);
  const int lanes = r.lanes ? r.lanes : 1;
  Value partial;
  for (int i = 0; i < lanes; ++i) partial.lane[i] = IdentityOf(r.op, e.type);
  Value index;
  for (int64_t j = begin; j < end; ++j) {
    Step();
    index.lane[0] = static_cast<uint64_t>(j);
    t->vars[r.var.get()] = index;
    uint64_t& slot =
        partial.lane[(static_cast<uint64_t>(j) - static_cast<uint64_t>(begin)) % static_cast<uint64_t>(lanes)];
    const uint64_t value = Eval(e.args[2], t).lane[0];
    slot = TakesInOnLeft(r.op) ? EvalBinary(r.op, e.type, value, slot) : EvalBinary(r.op, e.type, slot, value);
  }
  partial.lane[0] = Tree(r.op, e.type, partial.lane, lanes);
  partial.lanes = 1;
  return partial;
}

Value Machine::EvalArg(const ExprNode& e, int64_t begin, int64_t end, Thread* t) {
  const Reduction& r = std::get<Reduction>(e.detail);
  const Type type = e.args[2]->type;
  const auto is = [&](Op op, uint64_t a, uint64_t b) { return EvalBinary(op, type, a, b) != 0; };
  Value index, out;
  uint64_t best = 0;
  out.lane[0] = LaneFromInt(e.type, -1);
  for (int64_t j = begin; j < end; ++j) {
    Step();
    index.lane[0] = static_cast<uint64_t>(j);
    t->vars[r.var.get()] = index;
    const uint64_t value = Eval(e.args[2], t).lane[0];
    const bool first_nan = is(Op::kNe, value, value) && is(Op::kEq, best, best);
    if (j != begin && !is(r.op == Op::kArgMax ? Op::kGt : Op::kLt, value, best) && !first_nan) continue;
    best = value;
    out = index;
  }
  return out;
}

Value Machine::EvalExtern(const ExprNode& e, Thread* t) {
  const std::string& name = std::get<std::string>(e.detail);
  const auto found = options_.externs.find(name);
  if (found == options_.externs.end())
    KP_THROW(NameError) << "extern \"" << name << "\": the interpreter was given no such function";
  std::vector<double> args;
  for (const Expr& a : e.args) {
    args.push_back(DoubleFromLane(kF64, EvalCast(a->type, kF64, Eval(a, t).lane[0])));
  }
  Value out;
  out.lane[0] = LaneFromDouble(e.type, found->second(args));
  return out;
}

Value Machine::Eval(const Expr& e, Thread* t) {
  Value out;
  out.lanes = e->type.lanes;
  switch (e->op) {
    case Op::kConst:
      out.lane[0] = e->bits();
      return out;
    case Op::kVar: {
      const auto found = t->vars.find(e->var().get());
      if (found == t->vars.end()) KP_THROW(NameError) << e->var()->name << ": used where it has no value";
      return found->second;
    }
    case Op::kThreadIndex:
      out.lane[0] = static_cast<uint64_t>(t->thread[e->bits()]);
      return out;
    case Op::kBlockIndex:
      out.lane[0] = static_cast<uint64_t>(t->block[e->bits()]);
      return out;
    case Op::kLoad:
    case Op::kMaskedLoad:
      return EvalLoad(*e, t);
    case Op::kReduce:
      return EvalReduce(*e, t);
    case Op::kExtern:
      return EvalExtern(*e, t);
    default:
      break;
  }
  Value a = Eval(e->args[0], t), b, c;
  if (e->args.size() > 1) b = Eval(e->args[1], t);
  if (e->args.size() > 2) c = Eval(e->args[2], t);
  const Type from = e->args[0]->type;
  if (e->op == Op::kReduceLanes) {
    out.lane[0] = Tree(std::get<Op>(e->detail), ElementOf(from), a.lane, from.lanes);
    return out;
  }
  for (int i = 0; i < out.lanes; ++i) {
    switch (e->op) {
      case Op::kCast:
        out.lane[i] = EvalCast(from, e->type, a.lane[i]);
        break;
      case Op::kBitcast:
        out.lane[i] = EvalBitcast(from, e->type, a.lane[i]);
        break;
      case Op::kSelect:
        out.lane[i] = a.lane[i] ? b.lane[i] : c.lane[i];
        break;
      case Op::kStrict:
        out.lane[i] = a.lane[i];
        break;
      case Op::kBroadcast:
        out.lane[i] = a.lane[0];
        break;
      case Op::kRamp: {
        const uint64_t step = EvalBinary(Op::kMul, from, b.lane[0], static_cast<uint64_t>(i));
        out.lane[i] = EvalBinary(Op::kAdd, from, a.lane[0], step);
        break;
      }
      case Op::kShuffle: {
        const int chosen = std::get<std::vector<int>>(e->detail)[static_cast<size_t>(i)];
        out.lane[i] = chosen < from.lanes ? a.lane[chosen] : b.lane[chosen - from.lanes];
        break;
      }
      default:
        out.lane[i] = HasTwoOperands(ClassOf(e->op)) ? EvalBinary(e->op, ElementOf(from), a.lane[i], b.lane[i])
                                                     : EvalUnary(e->op, ElementOf(from), a.lane[i]);
    }
  }
  return out;
}

}  // namespace kernpack::sdk::ir
