#include "ir/launch_limits.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <array>

#include "ir/lexer.h"
#include "ir/polynomial.h"

namespace kernpack::sdk::ir {
namespace {

using Three = std::array<int64_t, 3>;

std::string Triple(const Three& e) {
  return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) + ")";
}

class LaunchChecker : public Visitor {
 public:
  LaunchChecker(const FuncNode& f, const TargetLimits& limits) : f_(f), limits_(limits) {}

  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kLaunch) at_ = s->position;
    if (s->kind == StmtKind::kLaunch) CheckExtents(*s);
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kShared) AddShared(*s);
    Visitor::VisitStmt(s);
    if (s->kind != StmtKind::kLet) return;
    if (const std::optional<Poly> value = facts_.Of(s->args[0])) facts_.values[s->var.get()] = *value;
  }
  void VisitExpr(const Expr&) override {}

 private:
  const FuncNode& f_;
  const TargetLimits& limits_;
  Facts facts_;
  Position at_;
  int64_t shared_ = 0;

  [[noreturn]] void Fail(const std::string& said) const {
    const std::string text = f_.name + ": launch: expected " + said;
    if (at_.line) FailAt(at_, text, "ValueError", f_.file);
    throw Error("ValueError", KpBytes{text.data(), text.size()});
  }
  // The source of the limit: an attribute of the target, or all devices of its kind.
  std::string GetLimit(const char* attribute = "") const {
    return std::string(" (") + (*attribute ? attribute : "the limit") + " of " + limits_.text + ")";
  }

  // 0: not constant.
  int64_t Constant(const Expr& e) const {
    const std::optional<Poly> value = facts_.Of(e);
    return value ? value->Constant().value_or(0) : 0;
  }

  void CheckExtents(const StmtNode& launch) {
    Three grid{}, block{};
    for (size_t d = 0; d < 3; ++d) {
      grid[d] = Constant(launch.args[d]);
      block[d] = Constant(launch.args[3 + d]);
    }
    for (size_t d = 0; d < 3; ++d) {
      if (limits_.block[d] && block[d] > limits_.block[d]) {
        Fail("at most " + std::to_string(limits_.block[d]) + " threads per block along dimension " + std::to_string(d) +
             GetLimit() + ", got " + std::to_string(block[d]));
      }
      if (limits_.grid[d] && grid[d] > limits_.grid[d]) {
        Fail("a grid of at most " + std::to_string(limits_.grid[d]) + " blocks along dimension " + std::to_string(d) +
             GetLimit() + ", got " + std::to_string(grid[d]) +
             "; put more work into a block, or use another dimension");
      }
    }
    int64_t threads = 1;
    for (const int64_t extent : block) {
      if (extent <= 0) threads = 0;
      if (__builtin_mul_overflow(threads, extent, &threads)) threads = INT64_MAX;
    }
    if (limits_.threads && threads > limits_.threads) {
      Fail("at most " + std::to_string(limits_.threads) + " threads per block" + GetLimit("max_threads_per_block") +
           ", got " + std::to_string(threads) + ": " + Triple(block));
    }
    shared_ = 0;
    AddBytes(Constant(launch.args[6]));
  }

  void AddShared(const StmtNode& alloc) {
    int64_t bytes = alloc.buffer->element.itemsize();
    for (const Expr& extent : alloc.buffer->shape) {
      if (__builtin_mul_overflow(bytes, Constant(extent), &bytes)) bytes = INT64_MAX;
    }
    if (alloc.position.line) at_ = alloc.position;
    AddBytes(bytes);
  }

  void AddBytes(int64_t bytes) {
    if (__builtin_add_overflow(shared_, bytes, &shared_)) shared_ = INT64_MAX;
    if (!limits_.shared_bytes || shared_ <= limits_.shared_bytes) return;
    Fail("at most " + std::to_string(limits_.shared_bytes) + " bytes of shared memory per block" +
         GetLimit("max_shared_memory_per_block") + ", got " + std::to_string(shared_));
  }
};

}  // namespace

void CheckLaunches(const FuncNode& f, const TargetLimits& limits) { LaunchChecker(f, limits).VisitBlock(f.body); }

void CheckLaunches(const IRModule& module, const Target& target) {
  const TargetLimits limits = GetLimits(target);
  if (!limits.is_device) return;
  for (const PrimFunc& f : module.functions) CheckLaunches(*f, limits);
}

}  // namespace kernpack::sdk::ir
