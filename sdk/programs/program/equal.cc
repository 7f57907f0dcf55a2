#include <kernpack/sdk/program/program.h>

#include <cstring>

namespace kernpack::sdk::program {
namespace {

// Values correspond when they are defined by corresponding steps, whatever their numbers.
class Comparison {
 public:
  Comparison(const Program& a, const Program& b) : a_(a), b_(b), other_(a.values.size(), kNone) {}

  bool Run() {
    if (a_.name != b_.name || a_.values.size() != b_.values.size() || a_.steps.size() != b_.steps.size() ||
        a_.results.size() != b_.results.size()) {
      return false;
    }
    if (!Define(a_.params, b_.params)) return false;
    for (size_t i = 0; i < a_.params.size(); ++i) {
      if (a_.values[a_.params[i]].name != b_.values[b_.params[i]].name) return false;
    }
    for (size_t i = 0; i < a_.steps.size(); ++i) {
      if (!Same(a_.steps[i], b_.steps[i])) return false;
    }
    for (size_t i = 0; i < a_.results.size(); ++i) {
      const Result &a = a_.results[i], &b = b_.results[i];
      if (other_[a.value] != b.value || !(a.device == b.device)) return false;
    }
    return true;
  }

 private:
  static constexpr ValueId kNone = ~0u;
  const Program& a_;
  const Program& b_;
  std::vector<ValueId> other_;  // the value of b that a value of a is

  bool Define(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      const Value &left = a_.values[a[i]], &right = b_.values[b[i]];
      if (!(left.type == right.type) || !(left.device == right.device)) return false;
      other_[a[i]] = b[i];
    }
    return true;
  }

  // By bits: a NaN is itself, and -0.0 is not 0.0.
  static bool Same(const Constant& a, const Constant& b) {
    if (a.index() != b.index()) return false;
    if (const double* x = std::get_if<double>(&a)) return std::memcmp(x, std::get_if<double>(&b), sizeof *x) == 0;
    return a == b;
  }

  bool Same(const Step& a, const Step& b) {
    if (a.kind != b.kind || a.callee != b.callee || a.otherwise != b.otherwise || a.index != b.index ||
        a.args.size() != b.args.size() || !Same(a.constant, b.constant)) {
      return false;
    }
    for (size_t i = 0; i < a.args.size(); ++i) {
      if (other_[a.args[i]] != b.args[i]) return false;
    }
    return Define(a.results, b.results);
  }
};

}  // namespace

bool Equal(const Program& a, const Program& b) { return &a == &b || Comparison(a, b).Run(); }

bool Equal(const ProgramModule& a, const ProgramModule& b) {
  if (a.programs.size() != b.programs.size()) return false;
  for (size_t i = 0; i < a.programs.size(); ++i) {
    if (!Equal(a.programs[i], b.programs[i])) return false;
  }
  return true;
}

}  // namespace kernpack::sdk::program
