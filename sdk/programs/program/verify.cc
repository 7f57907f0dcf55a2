#include <kernpack/sdk/program/verify.h>

#include "ir/names.h"
#include "program/call_types.h"
#include "program/fail.h"
#include "program/structure.h"

namespace kernpack::sdk::program {
namespace {

// Types of one program's values, in the order of its steps; what does not fit is an error.
class Typing {
 public:
  // `types`: of the programs that this one invokes.
  Typing(const ProgramModule& module, const ProgramIndex& index, const FunctionTable& functions, const Program& p,
         const std::vector<std::vector<Type>>& types)
      : module_(module),
        index_(index),
        functions_(functions),
        p_(p),
        all_(types),
        constants_(p.values.size()),
        tuples_(p.values.size()) {
    types_.reserve(p.values.size());
    for (const Value& v : p.values) types_.push_back(v.type);
  }

  std::vector<Type> Run() {
    for (size_t v = 0; v < p_.values.size(); ++v) CheckDeclared(static_cast<ValueId>(v));
    for (const ValueId v : p_.params) RefuseTuple(v, p_.values[v].position, "parameter " + GetName(p_, v));
    for (const Step& s : p_.steps) Infer(s);
    for (const Result& r : p_.results) RefuseTuple(r.value, r.position, "return " + GetName(p_, r.value));
    return std::move(types_);
  }

 private:
  const ProgramModule& module_;
  const ProgramIndex& index_;
  const FunctionTable& functions_;
  const Program& p_;
  const std::vector<std::vector<Type>>& all_;
  std::vector<Type> types_;
  std::vector<const Constant*> constants_;  // what a value is, where it is constant
  std::vector<const Step*> tuples_;  // what makes a value, where it is a tuple

  [[noreturn]] void Refuse(const Step& s, const std::string& message) const {
    Fail(s.position, p_, Describe(p_, s) + ": " + message);
  }

  void CheckDeclared(ValueId v) const {
    CheckSymbols(v, p_.values[v].type);
    for (const Type& element : p_.values[v].type.elements) CheckSymbols(v, element);
  }

  void CheckSymbols(ValueId v, const Type& type) const {
    if (!type.dims) return;
    for (const Dim& d : *type.dims) {
      if (d.symbol.empty() || (d.symbol != "_" && ir::IsIdentifier(d.symbol))) continue;
      Fail(p_.values[v].position, p_,
           GetName(p_, v) + ": '" + d.symbol + "' isn't a valid symbol: expected an identifier");
    }
  }

  // Tuples are lists of arguments, not data: what crosses from program to program are their elements.
  void RefuseTuple(ValueId v, Position at, const std::string& what) const {
    if (types_[v].kind == TypeKind::kTuple)
      Fail(at, p_, what + ": tuples can't be passed between programs; pass its elements");
  }

  // Takes what a step says its result is, together with what is declared.
  void Set(const Step& s, size_t result, const Type& inferred) {
    Type& type = types_[s.results[result]];
    if (!Fits(inferred, type)) {
      Refuse(s, GetName(p_, s.results[result]) + " is declared " + type.str() + ", but it is " + inferred.str());
    }
    // Whichever says more: dims that only a run knows may be declared.
    const bool declared = type.kind != TypeKind::kUnknown && (!type.is_tensor() || type.dims);
    if (!declared && inferred.kind != TypeKind::kUnknown) type = inferred;
  }

  void Infer(const Step& s) {
    if (s.kind != StepKind::kCall && s.kind != StepKind::kTupleGet && s.kind != StepKind::kTuple) {
      for (const ValueId v : s.args) RefuseTuple(v, s.position, Describe(p_, s));
    }
    switch (s.kind) {
      case StepKind::kConstant:
        constants_[s.results[0]] = &s.constant;
        if (const auto* text = std::get_if<std::string>(&s.constant); text && text->find('\0') != std::string::npos)
          Refuse(s, "a string with a NUL character, where functions would stop reading");
        return Set(s, 0, TypeOf(s.constant));
      case StepKind::kCall:
        return InferCall(s);
      case StepKind::kTuple:
        return InferTuple(s);
      case StepKind::kTupleGet:
        return InferElement(s);
      case StepKind::kIf:
        CheckCondition(s);
        InferInvoke(s, s.callee, 1);
        return InferInvoke(s, s.otherwise, 1);
      case StepKind::kInvoke:
        return InferInvoke(s, s.callee, 0);
      case StepKind::kCopy:
        if (types_[s.args[0]].is_host()) Refuse(s, "expected a tensor, got " + types_[s.args[0]].str());
        if (p_.values[s.results[0]].device.IsFullyUnconstrained())
          Refuse(s, "doesn't say where to: give its result a device");
        return Set(s, 0, types_[s.args[0]]);
      case StepKind::kShapeOf:
        if (types_[s.args[0]].is_host()) Refuse(s, "expected a tensor, got " + types_[s.args[0]].str());
        return Set(s, 0, Type::Of(TypeKind::kShape));
    }
  }

  void InferCall(const Step& s) {
    std::vector<Argument> args;
    for (const ValueId v : s.args) {
      Argument& arg = args.emplace_back(Argument{&types_[v], constants_[v], {}});
      if (!tuples_[v]) continue;
      for (const ValueId element : tuples_[v]->args) arg.elements.push_back(constants_[element]);
    }
    std::vector<Type> results;
    try {
      results = TypesOfCall(*functions_.Find(s.callee), args);
    } catch (const Error& refused) {
      Fail(s.position, p_, std::string(StepKindName(s.kind)) + " " + refused.what(), GetKind(refused));
    }
    for (size_t i = 0; i < results.size(); ++i) Set(s, i, results[i]);
  }

  void InferTuple(const Step& s) {
    std::vector<Type> elements;
    for (const ValueId v : s.args) {
      if (types_[v].kind == TypeKind::kTuple) Refuse(s, "a tuple in a tuple: its elements are tensors and scalars");
      elements.push_back(types_[v]);
    }
    types_[s.results[0]] = Type::Unknown();  // what it is follows from its elements alone
    Set(s, 0, Type::Tuple(std::move(elements)));
    tuples_[s.results[0]] = &s;
  }

  void InferElement(const Step& s) {
    const Type& tuple = types_[s.args[0]];
    if (tuple.kind != TypeKind::kTuple) Refuse(s, "expected a tuple, got " + tuple.str());
    if (s.index >= tuple.elements.size()) {
      Refuse(s, "element " + std::to_string(s.index) + " of " + std::to_string(tuple.elements.size()) +
                    ": elements count from 0");
    }
    Set(s, 0, tuple.elements[s.index]);
    const Step* made = tuples_[s.args[0]];
    if (made) constants_[s.results[0]] = constants_[made->args[s.index]];
  }

  void CheckCondition(const Step& s) const {
    const Type& type = types_[s.args[0]];
    if (type.kind == TypeKind::kUnknown || type.kind == TypeKind::kBool) return;
    if (Fits(type, Type::Tensor(bool_, std::vector<Dim>()))) return;
    Refuse(s, "expected a bool or bool[] as condition, got " + type.str());
  }

  // The callee's symbols are its own: each stands for the extent that the argument has there.
  void InferInvoke(const Step& s, const std::string& name, size_t first_arg) {
    const size_t number = index_.at(name);
    const Program& callee = module_.programs[number];
    const std::vector<Type>& types = all_[number];
    std::unordered_map<std::string, Dim> symbols;
    for (size_t i = 0; i < callee.params.size(); ++i) {
      const Type& wanted = types[callee.params[i]];
      const Type& got = types_[s.args[first_arg + i]];
      BindSymbols(wanted, got, &symbols);
      if (!Fits(got, Substitute(wanted, symbols))) {
        Refuse(s,
               GetName(callee, callee.params[i]) + " of " + name + ": expected " + wanted.str() + ", got " + got.str());
      }
    }
    for (size_t i = 0; i < s.results.size(); ++i) {
      const Type type = Substitute(types[callee.results[i].value], symbols);
      if (s.kind == StepKind::kIf && !Fits(type, types_[s.results[i]])) {
        Refuse(s, "the branches differ: result " + std::to_string(i) + " of " + name + " is " + type.str() +
                      ", expected " + types_[s.results[i]].str());
      }
      Set(s, i, type);
    }
  }

  static void BindSymbols(const Type& wanted, const Type& got, std::unordered_map<std::string, Dim>* symbols) {
    if (!wanted.dims || !got.dims || wanted.dims->size() != got.dims->size()) return;
    for (size_t i = 0; i < wanted.dims->size(); ++i) {
      const Dim& d = (*wanted.dims)[i];
      if (!d.symbol.empty()) symbols->emplace(d.symbol, (*got.dims)[i]);
    }
  }

  static Type Substitute(Type type, const std::unordered_map<std::string, Dim>& symbols) {
    if (!type.dims) return type;
    for (Dim& d : *type.dims) {
      if (d.symbol.empty()) continue;
      const auto found = symbols.find(d.symbol);
      d = found == symbols.end() ? Dim() : found->second;
    }
    return type;
  }
};

std::vector<std::vector<Type>> CollectTypes(const ProgramModule& module, const ProgramIndex& index,
                                            const FunctionTable& functions) {
  std::vector<std::vector<Type>> types(module.programs.size());
  for (const size_t p : CalleesFirst(module, index)) {
    types[p] = Typing(module, index, functions, module.programs[p], types).Run();
  }
  return types;
}

}  // namespace

void Verify(const ProgramModule& module, const FunctionTable& functions) {
  const ProgramIndex index = GetIndex(module);
  CheckStructure(module, index, functions);
  CollectTypes(module, index, functions);
}

std::vector<std::vector<Type>> InferTypes(const ProgramModule& module, const FunctionTable& functions) {
  return CollectTypes(module, GetIndex(module), functions);
}

}  // namespace kernpack::sdk::program
