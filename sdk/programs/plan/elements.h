// Numbers for what has a place in a module: values, results of programs, and the calls themselves.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_ELEMENTS_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_ELEMENTS_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

class Elements {
 public:
  explicit Elements(const ProgramModule& module) {
    for (const Program& p : module.programs) {
      values_.push_back(count_);
      results_.push_back(values_.back() + static_cast<uint32_t>(p.values.size()));
      steps_.push_back(results_.back() + static_cast<uint32_t>(p.results.size()));
      count_ = steps_.back() + static_cast<uint32_t>(p.steps.size());
    }
  }

  uint32_t count() const { return count_; }
  uint32_t Value(size_t program, size_t value) const { return values_[program] + static_cast<uint32_t>(value); }
  uint32_t Result(size_t program, size_t result) const { return results_[program] + static_cast<uint32_t>(result); }
  uint32_t Step(size_t program, size_t step) const { return steps_[program] + static_cast<uint32_t>(step); }

 private:
  uint32_t count_ = 0;
  std::vector<uint32_t> values_, results_, steps_;  // where those of a program begin
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_ELEMENTS_H_
