// Statements in the interpreter.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/verify.h>

#include <algorithm>
#include <utility>

#include "ir/machine.h"
#include "ir/message.h"
#include "ir/scalar.h"
#include "ir/uniform.h"

namespace kernpack::sdk::ir {
namespace {

// After a round of a loop: false if the thread left the loop.
bool EndsRound(Thread* t) {
  t->continued = false;
  return !std::exchange(t->broke, false) && !t->returned;
}

Threads Running(const Threads& threads) {
  Threads out;
  for (Thread* t : threads) {
    if (t->IsRunning()) out.push_back(t);
  }
  return out;
}

}  // namespace

void Machine::RunBlock(const Block& block, const Threads& threads) {
  for (const Stmt& s : block) {
    const Threads running = Running(threads);
    if (running.empty()) return;
    RunStmt(*s, running);
  }
}

void Machine::RunStmt(const StmtNode& s, const Threads& threads) {
  if (s.kind == StmtKind::kAlloc) return RunAlloc(s, threads);
  if (threads.size() == 1 || !HoldsBarrier(s)) {
    for (Thread* t : threads) RunAlone(s, t);
    return;
  }
  // Every thread of the block reaches the same barriers.
  if (s.kind == StmtKind::kBarrier) ++phase_;
  if (s.kind == StmtKind::kFor) return RunFor(s, threads);
  if (s.kind == StmtKind::kIf) {
    const uint64_t condition = Eval(s.args[0], threads[0]).lane[0];
    for (Thread* t : threads) {
      if (Eval(s.args[0], t).lane[0] != condition) {
        KP_THROW(RuntimeError) << "barrier: only some threads of the block reach it (line " << s.position.line << ')';
      }
    }
    RunBlock(condition ? s.body : s.otherwise, threads);
  }
}

void Machine::RunFor(const StmtNode& s, const Threads& threads) {
  const int64_t begin = EvalInt(s.args[0], threads[0]), end = EvalInt(s.args[1], threads[0]);
  for (Thread* t : threads) {
    if (EvalInt(s.args[0], t) != begin || EvalInt(s.args[1], t) != end) {
      KP_THROW(RuntimeError) << "barrier: threads of the block run the loop over it differently (line "
                             << s.position.line << ')';
    }
  }
  Value index;
  for (int64_t i = begin; i < end; ++i) {
    Step();
    index.lane[0] = static_cast<uint64_t>(i);
    for (Thread* t : threads) t->vars[s.var.get()] = index;
    RunBlock(s.body, threads);
    // Several threads meet at a barrier inside, and such a loop is left by none of them before its end.
    if (threads.size() == 1 && !EndsRound(threads[0])) return;
    if (Running(threads).empty()) return;
  }
}

void Machine::RunWhile(const StmtNode& s, Thread* t) {
  while (Eval(s.args[0], t).lane[0]) {
    Step();
    RunBlock(s.body, {t});
    if (!EndsRound(t)) return;
  }
}

void Machine::RunAlone(const StmtNode& s, Thread* t) {
  Step();
  switch (s.kind) {
    case StmtKind::kLet:
      t->vars[s.var.get()] = Eval(s.args[0], t);
      break;
    case StmtKind::kStore:
      RunStore(s, t);
      break;
    case StmtKind::kFor:
      RunFor(s, {t});
      break;
    case StmtKind::kIf:
      RunBlock(Eval(s.args[0], t).lane[0] ? s.body : s.otherwise, {t});
      break;
    case StmtKind::kAssert:
      RunAssert(s, t);
      break;
    case StmtKind::kLaunch:
      RunLaunch(s, t);
      break;
    case StmtKind::kCall:
      RunCall(s, t);
      break;
    case StmtKind::kEvaluate:
      Eval(s.args[0], t);
      break;
    case StmtKind::kReturn:
      t->returned = true;
      break;
    case StmtKind::kWhile:
      RunWhile(s, t);
      break;
    case StmtKind::kBreak:
      t->broke = true;
      break;
    case StmtKind::kContinue:
      t->continued = true;
      break;
    case StmtKind::kAlloc:
    case StmtKind::kBarrier:
      break;
  }
}

void Machine::RunAssert(const StmtNode& s, Thread* t) {
  int64_t values[kMostAssertValues];
  for (size_t i = 1; i < s.args.size(); ++i) values[i - 1] = EvalInt(s.args[i], t);
  if (Eval(s.args[0], t).lane[0]) return;
  Text text;
  WriteWithValues(s.text, values, s.args.size() - 1, &text);
  throw Error(ErrorKind(s.name), text.bytes());
}

void Machine::RunStore(const StmtNode& s, Thread* t) {
  const Value value = Eval(s.args.back(), t);
  std::vector<Value> indices;
  for (size_t d = 0; d + 1 < s.args.size(); ++d) indices.push_back(Eval(s.args[d], t));
  Value mask;
  if (s.mask) mask = Eval(s.mask, t);
  for (int i = 0; i < value.lanes; ++i) {
    if (s.mask && !mask.lane[i]) continue;
    std::byte* place = Place(s.buffer, s.args, indices, i, t);
    if (s.buffer->scope == Scope::kShared) {
      Touch(s.buffer, place, true, ReadLane(s.buffer->element, place) == value.lane[i], t, s.position);
    }
    WriteLane(s.buffer->element, place, value.lane[i]);
  }
}

void Machine::RunAlloc(const StmtNode& s, const Threads& threads) {
  std::shared_ptr<std::vector<std::byte>> shared;
  std::shared_ptr<std::vector<Touched>> touched;
  for (Thread* t : threads) {
    Memory m;
    uint64_t bytes = s.buffer->element.bits / 8;
    for (const Expr& e : s.buffer->shape) {
      const int64_t extent = EvalInt(e, t);
      if (extent < 0) KP_THROW(ValueError) << s.buffer->name << ": negative extent " << extent;
      m.shape.push_back(extent);
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > (uint64_t{1} << 32)) {
        KP_THROW(MemoryError) << s.buffer->name << ": more than 4 GiB, the interpreter's limit";
      }
    }
    if (s.buffer->scope == Scope::kPersistent && persistent_) {
      std::vector<std::byte>& kept = (*persistent_)[s.buffer->key];
      if (kept.size() < bytes) {
        outgrown_.push_back(std::move(kept));
        kept.assign(bytes, std::byte{0});
      }
      m.data = kept.data();
    } else {
      if (!shared || s.buffer->scope != Scope::kShared) {
        shared = std::make_shared<std::vector<std::byte>>(bytes, options_.undefined);
      }
      m.owned = shared;
      if (s.buffer->scope == Scope::kShared) {
        // In the next turn of a loop it is the same memory.
        const auto before = t->buffers.find(s.buffer.get());
        if (!touched && before != t->buffers.end()) touched = before->second.touched;
        if (!touched) touched = std::make_shared<std::vector<Touched>>(bytes);
        m.touched = touched;
      }
      m.data = shared->data();
    }
    t->buffers[s.buffer.get()] = std::move(m);
  }
}

void Machine::RunLaunch(const StmtNode& s, Thread* t) {
  int64_t extent[6];
  int64_t total = 1;
  for (int i = 0; i < 6; ++i) {
    extent[i] = EvalInt(s.args[static_cast<size_t>(i)], t);
    if (extent[i] < 0) KP_THROW(ValueError) << "launch: negative extent " << extent[i];
    if (__builtin_mul_overflow(total, extent[i], &total)) KP_THROW(ValueError) << "launch: too many threads";
  }
  if (total == 0) return;
  const int64_t in_block = extent[3] * extent[4] * extent[5];
  if (in_block > 4096)
    KP_THROW(ValueError) << "launch: " << in_block << " threads per block, the interpreter's limit is 4096";
  for (int64_t b = 0; b < total / in_block; ++b) {
    std::vector<Thread> threads(static_cast<size_t>(in_block), *t);
    Threads all;
    for (int64_t i = 0; i < in_block; ++i) {
      Thread& one = threads[static_cast<size_t>(i)];
      const int64_t block[] = {b % extent[0], b / extent[0] % extent[1], b / extent[0] / extent[1]};
      const int64_t thread[] = {i % extent[3], i / extent[3] % extent[4], i / extent[3] / extent[4]};
      std::copy(block, block + 3, one.block);
      std::copy(thread, thread + 3, one.thread);
      one.id = static_cast<int>(i);
      all.push_back(&one);
    }
    ++phase_;
    RunBlock(s.body, all);
  }
}

void Machine::RunCall(const StmtNode& s, Thread* t) {
  const FuncNode* callee = module_.Find(s.name);
  if (!callee) KP_THROW(NameError) << "call " << s.name << ": the module has no such function";
  std::vector<Memory> tensors;
  std::vector<Value> scalars;
  for (const Buffer& b : s.buffers) {
    const auto found = t->buffers.find(b.get());
    if (found == t->buffers.end()) KP_THROW(NameError) << b->name << ": used outside the block that declares it";
    tensors.push_back(found->second);
  }
  for (const Expr& e : s.args) scalars.push_back(Eval(e, t));
  CallWith(*callee, tensors, scalars);
}

void Machine::CallWith(const FuncNode& f, const std::vector<Memory>& tensors, const std::vector<Value>& scalars) {
  if (++calls_ > kMostNestedCalls) {
    KP_THROW(RecursionError) << f.name << ": calls are nested more than " << kMostNestedCalls << " deep";
  }
  Thread thread;
  size_t next_tensor = 0, next_scalar = 0;
  for (const Param& p : f.params) {
    if ((p.buffer ? next_tensor == tensors.size() : next_scalar == scalars.size())) {
      KP_THROW(TypeError) << f.name << ": " << p.name() << " is missing";
    }
    if (p.buffer) {
      thread.buffers[p.buffer.get()] = tensors[next_tensor++];
    } else {
      thread.vars[p.var.get()] = scalars[next_scalar++];
    }
  }
  const FuncNode* const caller = std::exchange(function_, &f);
  const std::vector<Var> bound = ShapeVars(f);
  // First what binds, then what must agree.
  for (const bool binding : {true, false}) {
    for (const Param& p : f.params) {
      if (!p.buffer) continue;
      const std::vector<int64_t>& shape = thread.buffers[p.buffer.get()].shape;
      if (shape.size() != p.buffer->shape.size()) {
        KP_THROW(ValueError) << f.name << ": " << p.name() << ": expected " << p.buffer->shape.size()
                             << " dimensions, got " << shape.size();
      }
      for (size_t d = 0; d < shape.size(); ++d) {
        const Expr& extent = p.buffer->shape[d];
        const bool is_bare =
            extent->op == Op::kVar && std::find(bound.begin(), bound.end(), extent->var()) != bound.end();
        Value v;
        v.lane[0] = static_cast<uint64_t>(shape[d]);
        if (binding) {
          if (is_bare && p.role != Role::kResult) thread.vars.try_emplace(extent->var().get(), v);
        } else if (EvalInt(extent, &thread) != shape[d]) {
          KP_THROW(ValueError) << f.name << ": " << p.name() << ": dimension " << d << ": expected "
                               << EvalInt(extent, &thread) << ", got " << shape[d];
        }
      }
    }
  }
  RunBlock(f.body, {&thread});
  function_ = caller;
  --calls_;
}

}  // namespace kernpack::sdk::ir
