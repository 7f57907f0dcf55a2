#include "program/structure.h"

#include "shared/suggest.h"
#include <kernpack/signature/program.h>

#include <set>

#include "program/fail.h"

namespace kernpack::sdk::program {
namespace {

class Structure {
 public:
  Structure(const ProgramModule& module, const ProgramIndex& index, const FunctionTable& functions, const Program& p)
      : module_(module), index_(index), functions_(functions), p_(p), defined_(p.values.size()) {}

  void Run() {
    std::set<std::string_view> names;
    for (const ValueId v : p_.params) {
      Define(v, p_.position, "parameter");
      if (!names.insert(p_.values[v].name).second) {
        Fail(p_.values[v].position, p_, "parameter " + GetName(p_, v) + " appears twice: give one another name");
      }
    }
    for (const Step& s : p_.steps) Check(s);
    for (const Result& r : p_.results) Use(r.value, r.position, "return");
    for (size_t v = 0; v < defined_.size(); ++v) {
      if (!defined_[v])
        Fail(p_.values[v].position, p_, GetName(p_, static_cast<ValueId>(v)) + " isn't a result of a step");
    }
  }

 private:
  const ProgramModule& module_;
  const ProgramIndex& index_;
  const FunctionTable& functions_;
  const Program& p_;
  std::vector<bool> defined_;

  void Define(ValueId v, Position at, const std::string& by) {
    if (v >= defined_.size()) Fail(at, p_, by + ": defines " + GetName(p_, v));
    if (defined_[v]) Fail(at, p_, by + ": " + GetName(p_, v) + " is defined already: each value has one definition");
    defined_[v] = true;
  }

  void Use(ValueId v, Position at, const std::string& by) const {
    if (v < defined_.size() && defined_[v]) return;
    Fail(at, p_, by + ": " + GetName(p_, v) + " has no value here: define it above, as a parameter or by a step");
  }

  void Check(const Step& s) {
    for (const ValueId v : s.args) Use(v, s.position, Describe(p_, s));
    CheckCounts(s);
    for (const std::string_view callee : GetPrograms(s)) CheckProgram(s, callee);
    if (s.kind == StepKind::kIf) CheckBranches(s);
    for (const ValueId v : s.results) Define(v, s.position, Describe(p_, s));
  }

  // "call kernels.gelu: expected 1 result, got 2".
  void Expect(const Step& s, size_t expected, size_t got, const char* what) const {
    if (expected == got) return;
    Fail(s.position, p_,
         Describe(p_, s) + ": expected " + std::to_string(expected) + " " + what + (expected == 1 ? "" : "s") +
             ", got " + std::to_string(got));
  }

  void CheckCounts(const Step& s) const {
    switch (s.kind) {
      case StepKind::kConstant:
        Expect(s, 0, s.args.size(), "argument");
        break;
      case StepKind::kTuple:
        break;
      case StepKind::kCall: {
        const Function* f = functions_.Find(s.callee);
        if (!f) {
          const std::string hint = functions_.Suggest(s.callee);
          Fail(s.position, p_,
               Describe(p_, s) + ": there is no function of that name" +
                   (hint.empty() ? ": load its module, or add it to the table" : hint));
        }
        if (f->words()) {
          Expect(s, static_cast<size_t>(signature::View{f->words()}.NumResults()), s.results.size(), "result");
        }
        return;
      }
      case StepKind::kIf:
        if (s.args.empty()) Fail(s.position, p_, "if: expected a condition");
        return;
      case StepKind::kInvoke:
        return;
      default:
        Expect(s, 1, s.args.size(), "argument");
    }
    Expect(s, 1, s.results.size(), "result");
  }

  void CheckProgram(const Step& s, std::string_view name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) {
      std::vector<std::string> names;
      for (const Program& p : module_.programs) names.push_back(p.name);
      Fail(s.position, p_,
           Describe(p_, s) + ": there is no program '" + std::string(name) + "' in the module" +
               host::Suggest(name, names));
    }
    const Program& callee = module_.programs[found->second];
    Expect(s, callee.params.size(), s.args.size() - (s.kind == StepKind::kIf ? 1 : 0), "argument");
    if (s.kind == StepKind::kInvoke) Expect(s, callee.results.size(), s.results.size(), "result");
  }

  void CheckBranches(const Step& s) const {
    const Program& then = module_.programs[index_.at(s.callee)];
    const Program& otherwise = module_.programs[index_.at(s.otherwise)];
    if (then.results.size() != otherwise.results.size()) {
      Fail(s.position, p_,
           Describe(p_, s) + ": the branches differ: " + then.name + " has " + std::to_string(then.results.size()) +
               " results, " + otherwise.name + " has " + std::to_string(otherwise.results.size()) +
               "; return the same from both");
    }
    Expect(s, then.results.size(), s.results.size(), "result");
  }
};

}  // namespace

void CheckStructure(const ProgramModule& module, const ProgramIndex& index, const FunctionTable& functions) {
  for (size_t i = 0; i < module.programs.size(); ++i) {
    const Program& p = module.programs[i];
    if (p.name.empty()) Fail(p.position, p, "a program without a name: give it one");
    if (index.at(p.name) != i) Fail(p.position, p, "there is another program of that name: rename one");
    Structure(module, index, functions, p).Run();
  }
  CalleesFirst(module, index);  // throws on a cycle
}

}  // namespace kernpack::sdk::program
