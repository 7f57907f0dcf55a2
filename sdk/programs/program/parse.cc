#include <kernpack/error.h>
#include <kernpack/sdk/program/text.h>

#include <charconv>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ir/lexer.h"
#include "ir/names.h"
#include "program/print.h"
#include "program/type_text.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

using ir::FailAt;
using ir::Lexer;
using ir::Token;
using ir::TokenKind;

// The values that a step defines, before its kind is known.
struct Definition {
  Token name;
  std::optional<Type> type;
  VirtualDevice device;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lex_(text) {}

  ProgramModule Module() {
    ProgramModule m;
    std::unordered_set<std::string> names;
    while (lex_.now().kind != TokenKind::kEnd) {
      Program p = OneProgram();
      if (!names.insert(p.name).second)
        FailAt(p.position, "program '" + p.name + "' is defined already: give one another name");
      m.programs.push_back(std::move(p));
    }
    return m;
  }

 private:
  Lexer lex_;
  Program p_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_map<std::string, Target> targets_;

  Program OneProgram() {
    p_ = {};
    ids_.clear();
    p_.position = lex_.Expect("program").position;
    p_.name = Name("the name of the program");
    lex_.Expect("(");
    if (!lex_.Accept(")")) {
      do {
        p_.params.push_back(Define(OneDefinition(), Type::Unknown()));
      } while (lex_.Accept(","));
      lex_.Expect(")");
    }
    lex_.Expect("{");
    while (!lex_.Is("return")) OneStep();
    lex_.Take();
    if (!lex_.Is("}")) {
      do {
        const Position at = lex_.now().position;
        const ValueId value = Use();
        p_.results.push_back({value, Device(), at});
      } while (lex_.Accept(","));
    }
    lex_.Expect("}");
    return std::move(p_);
  }

  // An identifier, several joined by dots, or a string.
  std::string Name(const char* what) {
    if (lex_.now().kind == TokenKind::kString) return lex_.TakeString();
    std::string name(lex_.ExpectKind(TokenKind::kName, what).text);
    while (lex_.Accept(".")) name += "." + std::string(lex_.ExpectKind(TokenKind::kName, "a name").text);
    return name;
  }

  int64_t Integer(const char* what) {
    const bool negative = lex_.Accept("-");
    const Token t = lex_.ExpectKind(TokenKind::kNumber, what);
    const std::string digits = (negative ? "-" : "") + std::string(t.text);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      FailAt(t.position, std::string("expected ") + what + " of 64 bits, got '" + digits.substr(0, 40) + "'");
    }
    return value;
  }

  // The result of a part of the SDK for the text at `at`.
  template <class Make>
  auto Checked(Position at, Make make) {
    try {
      return make();
    } catch (const Error& e) {
      FailAt(at, e.what());
    }
  }

  // "@cuda:1 target "cuda" scope "global""; unconstrained where there is no '@'.
  VirtualDevice Device() {
    const Position at = lex_.now().position;
    if (!lex_.Accept("@")) return {};
    VirtualDeviceFields fields;
    const bool is_name = lex_.now().kind == TokenKind::kName && !lex_.Is("target") && !lex_.Is("scope");
    if (is_name || lex_.now().kind == TokenKind::kString) {
      const Position name_at = lex_.now().position;
      const std::string name = Name("a device");
      fields.device_type = Checked(name_at, [&] { return DeviceTypeFromName(name); });
    }
    if (lex_.Accept(":")) {
      const Position id_at = lex_.now().position;
      const int64_t id = Integer("a virtual id");
      if (id < 0 || id > std::numeric_limits<int32_t>::max()) FailAt(id_at, "expected a virtual id of 31 bits");
      fields.virtual_device_id = static_cast<int32_t>(id);
    }
    if (lex_.Accept("target")) {
      const Position target_at = lex_.now().position;
      const std::string text = lex_.TakeString();
      // Most annotations of a plan name one of few targets, and reading one takes longer than all else on its line.
      auto known = targets_.find(text);
      if (known == targets_.end()) {
        known = targets_.emplace(text, Checked(target_at, [&] { return Target(text); })).first;
      }
      fields.target = known->second;
    }
    if (lex_.Accept("scope")) fields.memory_scope = lex_.TakeString();
    if (fields == VirtualDeviceFields()) lex_.Expected("a device, ':' and a virtual id, 'target' or 'scope' after '@'");
    return Checked(at, [&] { return VirtualDevice(std::move(fields)); });
  }

  Dim OneDim() {
    if (lex_.now().kind == TokenKind::kName) {
      const Token t = lex_.Take();
      return t.text == "_" ? Dim() : Dim(std::string(t.text));
    }
    const Position at = lex_.now().position;
    const int64_t extent = Integer("an extent");
    if (extent < 0) FailAt(at, "expected an extent that is not negative");
    return extent;
  }

  Type ParseTensor(const Token& name) {
    const DTypeName* row = nullptr;
    for (const DTypeName& candidate : kDTypeNames) {
      if (name.text == candidate.name) row = &candidate;
    }
    if (!row) {
      FailAt(name.position,
             "expected a type: f32[N, 8] or another dtype, int, float, bool, str, dtype, none, shape, "
             "tuple[...] or ?; got '" +
                 std::string(name.text.substr(0, 40)) + "'");
    }
    lex_.Expect("[");
    std::vector<Dim> dims;
    if (lex_.Accept("...")) {
      lex_.Expect("]");
      return Type::Tensor(row->dtype);
    }
    if (!lex_.Accept("]")) {
      do {
        dims.push_back(OneDim());
      } while (lex_.Accept(","));
      lex_.Expect("]");
    }
    return Type::Tensor(row->dtype, std::move(dims));
  }

  Type OneType(bool in_tuple = false) {
    if (lex_.Accept("?")) return Type::Unknown();
    const Token name = lex_.ExpectKind(TokenKind::kName, "a type");
    if (name.text == "tuple") {
      if (in_tuple) FailAt(name.position, "a tuple in a tuple: its elements are tensors and scalars");
      std::vector<Type> elements;
      lex_.Expect("[");
      if (!lex_.Accept("]")) {
        do {
          elements.push_back(OneType(true));
        } while (lex_.Accept(","));
        lex_.Expect("]");
      }
      return Type::Tuple(std::move(elements));
    }
    if (lex_.Is("[")) return ParseTensor(name);
    for (const TypeKindRow& row : kTypeKinds) {
      if (name.text == row.name) return Type::Of(row.kind);
    }
    return ParseTensor(name);
  }

  Definition OneDefinition() {
    Definition d{lex_.ExpectKind(TokenKind::kName, "the name of a value"), std::nullopt, {}};
    if (IsReserved(d.name.text)) FailAt(d.name.position, "'" + std::string(d.name.text) + "' isn't a valid value name");
    if (lex_.Accept(":")) d.type = OneType();
    d.device = Device();
    return d;
  }

  ValueId Define(Definition d, const Type& otherwise) {
    const auto id = static_cast<ValueId>(p_.values.size());
    std::string name(d.name.text);
    if (!ids_.emplace(name, id).second) {
      FailAt(d.name.position, "'" + name + "' is defined already: each value has one definition");
    }
    p_.values.push_back({std::move(name), d.type.value_or(otherwise), std::move(d.device), d.name.position});
    return id;
  }

  ValueId Use() {
    const Token name = lex_.ExpectKind(TokenKind::kName, "a value");
    const auto found = ids_.find(std::string(name.text));
    if (found == ids_.end()) {
      FailAt(name.position,
             "'" + std::string(name.text) + "' has no value here: define it above, as a parameter or by a step");
    }
    return found->second;
  }

  void Uses(std::vector<ValueId>* args) {
    lex_.Expect("(");
    if (lex_.Accept(")")) return;
    do {
      args->push_back(Use());
    } while (lex_.Accept(","));
    lex_.Expect(")");
  }

  Constant OneConstant() {
    if (lex_.now().kind == TokenKind::kString) return lex_.TakeString();
    if (lex_.Accept("None")) return std::monostate();
    if (lex_.Accept("true")) return true;
    if (lex_.Accept("false")) return false;
    if (lex_.Accept("[")) {
      std::vector<int64_t> extents;
      if (lex_.Accept("]")) return extents;
      do {
        extents.push_back(Integer("an extent"));
      } while (lex_.Accept(","));
      lex_.Expect("]");
      return extents;
    }
    if (lex_.now().kind == TokenKind::kName && !lex_.Is("inf") && !lex_.Is("nan")) {
      for (const DTypeName& row : kDTypeNames) {
        if (lex_.Accept(row.name)) return row.dtype;
      }
    }
    return Number();
  }

  Constant Number() {
    const bool negative = lex_.Accept("-");
    const double sign = negative ? -1 : 1;
    if (lex_.Accept("inf")) return sign * std::numeric_limits<double>::infinity();
    if (lex_.Accept("nan")) return std::numeric_limits<double>::quiet_NaN();
    const Token t =
        lex_.ExpectKind(TokenKind::kNumber, "a constant: a number, true, false, None, a string, a dtype or [extents]");
    const std::string digits = (negative ? "-" : "") + std::string(t.text);
    const char* const last = digits.data() + digits.size();
    const auto read = [&](auto* value) {
      const auto [end, error] = std::from_chars(digits.data(), last, *value);
      return error == std::errc() && end == last;
    };
    int64_t integer = 0;
    double number = 0;
    if (t.text.find_first_of(".eE") == std::string_view::npos) {
      if (read(&integer)) return integer;
    } else if (read(&number)) {
      return number;
    }
    FailAt(t.position, "expected an integer of 64 bits or a float, got '" + digits.substr(0, 40) + "'");
  }

  void OneStep() {
    Step s{StepKind::kCall};
    s.position = lex_.now().position;
    std::vector<Definition> defined;
    if (lex_.now().kind != TokenKind::kName) lex_.Expected("a step or 'return'");
    if (!lex_.Is("call") && !lex_.Is("if") && !lex_.Is("invoke")) {
      do {
        defined.push_back(OneDefinition());
      } while (lex_.Accept(","));
      lex_.Expect("=");
    }
    if (!lex_.Is("call") && !lex_.Is("if") && !lex_.Is("invoke") && defined.size() > 1) {
      lex_.Expected("'call', 'invoke' or 'if', which may have several results");
    }
    Body(&s);
    const Type type = DefaultType(p_, s);
    for (Definition& d : defined) s.results.push_back(Define(std::move(d), type));
    p_.steps.push_back(std::move(s));
  }

  void Body(Step* s) {
    if (lex_.Accept("const")) {
      s->kind = StepKind::kConstant;
      s->constant = OneConstant();
    } else if (lex_.Accept("call")) {
      s->callee = Name("the name of a function");
      Uses(&s->args);
    } else if (lex_.Accept("invoke")) {
      s->kind = StepKind::kInvoke;
      s->callee = Name("the name of a program");
      Uses(&s->args);
    } else if (lex_.Accept("tuple")) {
      s->kind = StepKind::kTuple;
      Uses(&s->args);
    } else if (lex_.Accept("get")) {
      s->kind = StepKind::kTupleGet;
      s->args.push_back(Use());
      lex_.Expect("[");
      const Position at = lex_.now().position;
      const int64_t index = Integer("an index");
      if (index < 0 || index > std::numeric_limits<int32_t>::max()) FailAt(at, "expected an index of 31 bits");
      s->index = static_cast<uint32_t>(index);
      lex_.Expect("]");
    } else if (lex_.Accept("if")) {
      s->kind = StepKind::kIf;
      s->args.push_back(Use());
      lex_.Expect("then");
      s->callee = Name("the name of a program");
      lex_.Expect("else");
      s->otherwise = Name("the name of a program");
      Uses(&s->args);
    } else if (lex_.Accept("copy")) {
      s->kind = StepKind::kCopy;
      s->args.push_back(Use());
    } else if (lex_.Accept("shape")) {
      s->kind = StepKind::kShapeOf;
      s->args.push_back(Use());
    } else {
      lex_.Expected("'const', 'call', 'invoke', 'if', 'tuple', 'get', 'copy' or 'shape'");
    }
  }
};

}  // namespace

ProgramModule Parse(std::string_view text) { return Parser(text).Module(); }

}  // namespace kernpack::sdk::program
