// The parts of Solve(): constraints that must hold, then uses that may share a place, then what is still open.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_SOLVER_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_SOLVER_H_

#include "plan/domains.h"
#include "plan/elements.h"
#include "plan/solve.h"
#include "plan/tuples.h"

namespace kernpack::sdk::program {

class Solver {
 public:
  Solver(const ProgramModule& module, const PlanContext& context, const Writes& writes);

  Places Run(bool follow_uses);

 private:
  const ProgramModule& module_;
  CompilationConfig* const config_;
  const FunctionTable& functions_;
  const Writes& writes_;
  const ProgramIndex index_;
  const Elements elements_;
  std::vector<Tuples> tuples_;  // by program
  Domains<DeviceFacts> devices_;
  Domains<ScopeFacts> scopes_;
  Conflict conflict_;  // what the last join that failed said

  // solve_constraints.cc: of single values and calls, then what must be in one place.
  void Constrain(size_t p);
  void ConstrainCall(size_t p, size_t s);
  void Require(size_t p, uint32_t element, const VirtualDevice& device, const Origin& origin, Position at);
  void Bind(size_t p);
  void BindCall(size_t p, size_t s);
  void BindBranches(size_t p, const Step& step);
  void BindWritten(size_t p, const Step& step);
  void MustShare(size_t p, uint32_t a, uint32_t b, Position at, bool scope = true);

  // solve_uses.cc
  void FollowUses(size_t p);
  void FollowResults(size_t p, bool follow_uses);
  void MayShare(size_t p, ValueId v, uint32_t user, const Step& step);
  void FollowScopes(size_t p);
  bool SameDevice(uint32_t a, uint32_t b) { return devices_[a].device == devices_[b].device; }
  // visit(v, user, scope) for each tensor a step uses: the element that uses it, and the memory wanted there ("": any).
  // Conditions and arguments on the host are left out, as where they go is known.
  template <class Visit>
  void ForEachUse(size_t p, size_t s, const Visit& visit) const;

  // solve.cc
  void Settle();
  void SettleOne(uint32_t element);
  Places Read();
  VirtualDevice GetDevicePlace(uint32_t element);
  bool IsTensor(size_t p, ValueId v) const { return IsData(module_.programs[p].values[v].type); }
  [[noreturn]] void FailConflict(size_t p, Position at, const std::string& what, const char* advice) const;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_SOLVER_H_
