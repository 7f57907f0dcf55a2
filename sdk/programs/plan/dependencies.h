// Which steps must be done before another may run, by the memory they read and write.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_DEPENDENCIES_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_DEPENDENCIES_H_

#include <algorithm>

#include "plan/effects.h"
#include "plan/tuples.h"

namespace kernpack::sdk::program {

// For one program, step by step in order.
class Dependencies {
 public:
  Dependencies(const Program& program, size_t number, const Writes& writes)
      : program_(program),
        number_(number),
        writes_(writes),
        tuples_(program),
        writer_(program.values.size(), kNone),
        readers_(program.values.size()) {}

  // The steps that step `s` must wait for, without repetitions, in their order.
  std::vector<uint32_t> Next(uint32_t s) {
    const Step& step = program_.steps[s];
    std::vector<uint32_t> before;
    const bool touches = step.kind == StepKind::kCall || step.kind == StepKind::kCopy || step.kind == StepKind::kIf ||
                         step.kind == StepKind::kInvoke;
    for (size_t i = 0; touches && i < step.args.size(); ++i) {
      const bool writes = writes_.ByStep(step, i);
      tuples_.ForEachTensor(step.args[i], [&](ValueId v) { Touch(s, tuples_.FindOwner(v), writes, &before); });
    }
    for (const ValueId v : step.results) {
      if (touches) writer_[v] = s;
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    return before;
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  const Program& program_;
  const size_t number_;
  const Writes& writes_;
  const Tuples tuples_;
  std::vector<uint32_t> writer_;  // by value: the step that wrote it last
  std::vector<std::vector<uint32_t>> readers_;  // since then; only of values that some step writes

  void Touch(uint32_t s, ValueId owner, bool writes, std::vector<uint32_t>* before) {
    if (writer_[owner] != kNone) before->push_back(writer_[owner]);
    if (!writes_.Written(number_, owner)) return;
    if (writes) {
      before->insert(before->end(), readers_[owner].begin(), readers_[owner].end());
      readers_[owner].clear();
      writer_[owner] = s;
    } else {
      readers_[owner].push_back(s);
    }
  }
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_DEPENDENCIES_H_
