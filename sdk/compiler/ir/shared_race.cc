#include "ir/race.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/scalar.h"
#include "ir/uniform.h"

namespace kernpack::sdk::ir {
namespace {

using Known = std::optional<int64_t>;

constexpr int64_t kExtent = 1024;  // of parameters: conditions on tails hold, and most sizes divide it
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kMostTurns = 64;  // of loops that are followed
constexpr int64_t kMostWork = 1 << 18;  // expressions, in a function

struct TooMuch {};  // work, or not what a call can be: nothing is proved

struct OneThread {
  int64_t index[3];
  int id;
  std::unordered_map<const VarNode*, Known> vars;
};

// Who touched an element since the last barrier.
struct Element {
  int writer = -1, reader = -1, other_reader = -1;
  const StmtNode* same = nullptr;  // the one statement that writes it, of a value that all threads have
  bool by_several = false;
};

bool HoldsShared(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Stmt& s) {
    return (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kShared) || HoldsShared(s->body) ||
           HoldsShared(s->otherwise);
  });
}

// Follows a launch.
class Follower {
 public:
  Follower(const FuncNode& f) : extents_known_(f.signature.empty()) {
    for (const Var& v : ShapeVars(f)) host_.vars[v.get()] = extents_known_ ? Known(kExtent) : Known();
  }

  std::optional<SharedRace> Run(const FuncNode& f) {
    try {
      Host(f.body);
    } catch (const TooMuch&) {
    }
    return race_;
  }

 private:
  const bool extents_known_;
  OneThread host_{{0, 0, 0}, 0, {}};
  std::optional<SharedRace> race_;
  int64_t work_ = 0;
  const Uniform* uniform_ = nullptr;
  std::vector<OneThread> threads_;
  std::unordered_map<const BufferNode*, std::unordered_map<int64_t, Element>> touched_;

  using Team = std::vector<OneThread*>;

  void Host(const Block& block) {
    for (const Stmt& s : block) {
      if (race_) return;
      if (s->kind == StmtKind::kLet) host_.vars[s->var.get()] = Value(s->args[0], &host_, 0);
      if (s->kind == StmtKind::kFor) host_.vars[s->var.get()] = Value(s->args[0], &host_, 0);
      if (s->kind == StmtKind::kAssert && Value(s->args[0], &host_, 0) == Known(0)) throw TooMuch();
      if (s->kind == StmtKind::kLaunch) {
        if (HoldsShared(s->body)) Launch(*s);
        continue;
      }
      Host(s->body);
      Host(s->otherwise);
    }
  }

  void Launch(const StmtNode& launch) {
    int64_t extents[3], total = 1;
    for (size_t d = 0; d < 3; ++d) {
      const Known extent = Value(launch.args[3 + d], &host_, 0);
      if (!extent || *extent < 1 || *extent > kMostThreads || (total *= *extent) > kMostThreads) return;
      extents[d] = *extent;
    }
    const Uniform uniform(launch);
    uniform_ = &uniform;
    threads_.assign(static_cast<size_t>(total), host_);
    Team team;
    for (int64_t i = 0; i < total; ++i) {
      OneThread& t = threads_[static_cast<size_t>(i)];
      t.id = static_cast<int>(i);
      t.index[0] = i % extents[0];
      t.index[1] = i / extents[0] % extents[1];
      t.index[2] = i / extents[0] / extents[1];
      team.push_back(&t);
    }
    touched_.clear();
    Together(launch.body, team);
  }

  // All threads, from barrier to barrier.
  void Together(const Block& block, const Team& team) {
    for (const Stmt& s : block) {
      if (race_) return;
      if (!HoldsBarrier(*s)) {
        for (OneThread* t : team) Alone(*s, t);
      } else if (s->kind == StmtKind::kBarrier) {
        touched_.clear();
      } else if (s->kind == StmtKind::kIf) {
        // Where nothing says which way they go each is one that they may go.
        const Known condition = Value(s->args[0], team[0], 0);
        const auto before = touched_;
        if (!condition || *condition) Together(s->body, team);
        if (!condition) touched_ = before;
        if (!condition || !*condition) Together(s->otherwise, team);
        if (!condition) touched_.clear();
      } else if (s->kind == StmtKind::kFor) {
        Turns(*s, team);
      }
    }
  }

  // The first turns: what the end of one does, and the beginning of the next, has no barrier between.
  void Turns(const StmtNode& loop, const Team& team) {
    constexpr int64_t kTurns = 3;
    const Known begin = Value(loop.args[0], team[0], 0), end = Value(loop.args[1], team[0], 0);
    const int64_t count = begin && end ? *end - *begin : kTurns;
    for (int64_t i = 0; i < std::min(count, kTurns); ++i) {
      for (OneThread* t : team) t->vars[loop.var.get()] = begin ? Known(*begin + i) : Known();
      Together(loop.body, team);
    }
    if (!(begin && end) || count > kTurns) touched_.clear();  // what follows comes after other turns
  }

  void Alone(const StmtNode& s, OneThread* t) {
    if (race_) return;
    if (++work_ > kMostWork) throw TooMuch();
    switch (s.kind) {
      case StmtKind::kLet:
        Read(s.args[0], s, t);
        t->vars[s.var.get()] = Value(s.args[0], t, 0);
        return;
      case StmtKind::kStore:
        for (const Expr& e : s.args) Read(e, s, t);
        if (s.mask) Read(s.mask, s, t);
        return Touch(s.buffer, {s.args.begin(), s.args.end() - 1}, s.args.back()->type.lanes, s.mask, true, s, t);
      case StmtKind::kEvaluate:
        return Read(s.args[0], s, t);
      case StmtKind::kIf: {
        Read(s.args[0], s, t);
        const Known condition = Value(s.args[0], t, 0);
        if (!condition) return;
        for (const Stmt& inner : *condition ? s.body : s.otherwise) Alone(*inner, t);
        return;
      }
      case StmtKind::kFor: {
        const Known begin = Value(s.args[0], t, 0), end = Value(s.args[1], t, 0);
        if (!begin || !end || LeavesLoop(s.body)) return;
        for (int64_t i = *begin; i < std::min(*end, *begin + kMostTurns); ++i) {
          t->vars[s.var.get()] = i;
          for (const Stmt& inner : s.body) Alone(*inner, t);
        }
        return;
      }
      default:
        return;
    }
  }

  // The loads of an expression.
  void Read(const Expr& e, const StmtNode& s, OneThread* t) {
    if (race_) return;
    if (e->op == Op::kReduce) {
      const Known begin = Value(e->args[0], t, 0), end = Value(e->args[1], t, 0);
      const VarNode* counter = std::get<Reduction>(e->detail).var.get();
      for (int64_t i = begin.value_or(0); begin && end && i < std::min(*end, *begin + kMostTurns); ++i) {
        t->vars[counter] = i;
        Read(e->args[2], s, t);
      }
      return;
    }
    for (const Expr& a : e->args) Read(a, s, t);
    if (e->op == Op::kLoad) Touch(e->buffer(), e->args, e->type.lanes, Expr(), false, s, t);
    if (e->op == Op::kMaskedLoad)
      Touch(e->buffer(), {e->args.begin(), e->args.end() - 2}, e->type.lanes, e->args[e->args.size() - 2], false, s, t);
  }

  void Touch(const Buffer& buffer, const std::vector<Expr>& indices, int lanes, const Expr& mask, bool writes,
             const StmtNode& s, OneThread* t) {
    if (buffer->scope != Scope::kShared) return;
    for (int lane = 0; lane < lanes && !race_; ++lane) {
      if (mask && Value(mask, t, lane).value_or(0) == 0) continue;
      int64_t at = 0;
      bool known = true;
      for (size_t d = 0; d < indices.size() && known; ++d) {
        int64_t extent = 0;
        const Known index = Value(indices[d], t, lane);
        known = index && IsConstInt(buffer->shape[d], &extent);
        // Out of bounds: no call has these extents.
        if (known && (*index < 0 || *index >= extent)) throw TooMuch();
        if (known) at = at * extent + *index;
      }
      if (known) Meet(buffer, at, writes, s, t);
    }
  }

  void Meet(const Buffer& buffer, int64_t at, bool writes, const StmtNode& s, OneThread* t) {
    Element& e = touched_[buffer.get()][at];
    if (!writes) {
      if (e.writer >= 0 && e.writer != t->id && !(e.same && e.by_several)) return Found(buffer, at, s, e.writer, t->id);
      if (e.reader < 0 || e.reader == t->id)
        e.reader = t->id;
      else
        e.other_reader = t->id;
      return;
    }
    const bool same = uniform_->Cause(s.args.back()).empty();
    if (e.writer >= 0 && e.writer != t->id && !(same && e.same == &s)) return Found(buffer, at, s, e.writer, t->id);
    for (const int reader : {e.reader, e.other_reader}) {
      if (reader >= 0 && reader != t->id) return Found(buffer, at, s, reader, t->id);
    }
    if (e.writer < 0) e.same = same ? &s : nullptr;
    if (e.same != &s) e.same = nullptr;
    e.by_several = e.by_several || (e.writer >= 0 && e.writer != t->id);
    e.writer = t->id;
  }

  std::string Name(int id) const {
    const int64_t* index = threads_[static_cast<size_t>(id)].index;
    return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " + std::to_string(index[2]) + ")";
  }
  void Found(const Buffer& buffer, int64_t at, const StmtNode& s, int first, int second) {
    std::string place;
    for (size_t d = buffer->shape.size(); d-- > 0;) {
      int64_t extent = 1;
      static_cast<void>(IsConstInt(buffer->shape[d], &extent));
      place = std::to_string(at % extent) + (place.empty() ? "" : ", ") + place;
      at /= extent;
    }
    race_ = {s.position, "threads " + Name(first) + " and " + Name(second) + " of a block touch '" + buffer->name +
                             "[" + place +
                             "]', which is shared, with no barrier between, and at least one of them writes it; "
                             "put a barrier between the two, or let each write elements that no other touches"};
  }

  // Of a lane of an integer or bool; nothing where it follows from memory, arguments or floats.
  Known Value(const Expr& e, OneThread* t, int lane) {
    if (++work_ > kMostWork) throw TooMuch();
    if (!IsInteger(e->type) && !IsBool(e->type)) return std::nullopt;
    const auto arg = [&](size_t i) { return Value(e->args[i], t, e->args[i]->type.lanes == 1 ? 0 : lane); };
    switch (e->op) {
      case Op::kConst:
        return static_cast<int64_t>(e->bits());
      case Op::kVar: {
        const auto found = t->vars.find(e->var().get());
        return found == t->vars.end() || e->type.lanes > 1 ? std::nullopt : found->second;
      }
      case Op::kThreadIndex:
        return t->index[e->bits()];
      case Op::kBlockIndex:
        return 0;
      case Op::kBroadcast:
      case Op::kStrict:
        return arg(0);
      case Op::kRamp: {
        const Known base = arg(0), stride = arg(1);
        if (!base || !stride) return std::nullopt;
        return *base + *stride * lane;
      }
      case Op::kSelect: {
        const Known condition = arg(0);
        return condition ? arg(*condition ? 1 : 2) : std::nullopt;
      }
      case Op::kCast: {
        if (!IsInteger(e->args[0]->type) && !IsBool(e->args[0]->type)) return std::nullopt;
        const Known value = arg(0);
        if (!value) return std::nullopt;
        return static_cast<int64_t>(
            EvalCast(ElementOf(e->args[0]->type), ElementOf(e->type), static_cast<uint64_t>(*value)));
      }
      default:
        break;
    }
    const OpClass c = ClassOf(e->op);
    if (c == OpClass::Form || c == OpClass::Leaf) return std::nullopt;
    const Known a = arg(0);
    if (!HasTwoOperands(c)) {
      if (!a) return std::nullopt;
      return static_cast<int64_t>(EvalUnary(e->op, ElementOf(e->type), static_cast<uint64_t>(*a)));
    }
    const Known b = arg(1);
    // Either decides alone.
    if (IsBool(e->type) && e->op == Op::kAnd && (a == Known(0) || b == Known(0))) return 0;
    if (IsBool(e->type) && e->op == Op::kOr && (a == Known(1) || b == Known(1))) return 1;
    if (!a || !b) return std::nullopt;
    return static_cast<int64_t>(
        EvalBinary(e->op, ElementOf(e->args[0]->type), static_cast<uint64_t>(*a), static_cast<uint64_t>(*b)));
  }
};

}  // namespace

std::optional<SharedRace> FindSharedRace(const FuncNode& f) {
  if (!HoldsShared(f.body)) return std::nullopt;
  return Follower(f).Run(f);
}

}  // namespace kernpack::sdk::ir
