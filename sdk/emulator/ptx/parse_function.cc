// A function's body: declarations, labels, instructions.
#include <array>
#include <map>
#include <utility>

#include "ptx/parse.h"
#include "ptx/scopes.h"

namespace kernpack::emulator {
namespace {

constexpr size_t kMostRegisters = 1 << 20;

using Position = std::array<int64_t, 3>;  // file, line and column

class Body {
 public:
  Body(Lexer* lexer, Function* function) : lexer_(*lexer), function_(*function), scopes_(function) {}

  void Read() {
    lexer_.Expect("{");
    for (;;) {
      const Token& next = lexer_.Peek();
      if (next.kind == Token::Kind::kEnd) throw PtxError(next.line, "expected '}' at the end of " + function_.name);
      if (lexer_.Accept("{")) {
        scopes_.Open();
      } else if (lexer_.Accept("}")) {
        if (!scopes_.Close()) return;
      } else if (!lexer_.Accept(";")) {
        Item();
      }
    }
  }

 private:
  Lexer& lexer_;
  Function& function_;
  Scopes scopes_;
  uint32_t source_file_ = 0;
  uint32_t source_line_ = 0;
  uint32_t inlined_ = 0;
  // Of the last .loc of each position, its index in Function::inlined unless 0.
  std::map<Position, uint32_t> inlined_of_;
  std::map<std::pair<Position, uint32_t>, uint32_t> inlined_at_;  // by the position and what is around it

  void Item() {
    if (lexer_.Peek().Is(".reg")) return Registers();
    if (lexer_.Peek().Is(".loc")) return Location();
    if (lexer_.Accept(".pragma")) {
      lexer_.Take();
      lexer_.Expect(";");
      return;
    }
    Space space{};
    if (SpaceOfDirective(lexer_.Peek().text, &space)) {
      for (Variable& variable : ParseVariables(&lexer_)) {
        function_.variable_scopes.push_back(scopes_.current());
        function_.variables.push_back(std::move(variable));
      }
      return;
    }
    if (lexer_.Peek().Is("@")) return Instruction();
    const Token word = lexer_.ExpectWord("an instruction");
    if (lexer_.Accept(":")) return LabelAt(word);
    Instruction(word, Statement());
  }

  // .reg .b32 %r<10>, a, b;
  void Registers() {
    lexer_.Expect(".reg");
    const Token type = lexer_.ExpectWord("a register's type");
    const std::string_view name = type.text.substr(type.text.starts_with(".") ? 1 : 0);
    if (TypeBytes(name) == 0)
      throw PtxError(type.line, "expected a register's type, got '" + std::string(type.text) + "'");
    do {
      const Token reg = lexer_.ExpectWord("a register's name");
      if (!lexer_.Accept("<")) {
        scopes_.Declare(std::string(reg.text), name);
        continue;
      }
      const int64_t count = lexer_.ExpectInteger("how many registers");
      lexer_.Expect(">");
      if (count < 0 || function_.registers.size() + static_cast<size_t>(count) > kMostRegisters) {
        throw PtxError(reg.line, "expected at most " + std::to_string(kMostRegisters) + " registers, got " +
                                     std::to_string(count));
      }
      for (int64_t i = 0; i < count; ++i) scopes_.Declare(std::string(reg.text) + std::to_string(i), name);
    } while (lexer_.Accept(","));
    lexer_.Expect(";");
  }

  Position ReadPosition() {
    Position out{};
    out[0] = lexer_.ExpectInteger("the number of a file");
    out[1] = lexer_.ExpectInteger("the number of a line");
    if (lexer_.Peek().kind == Token::Kind::kInteger) out[2] = lexer_.Take().value;  // of a column
    return out;
  }

  // .loc 1 12 3, function_name $L__info_string0, inlined_at 1 5 2
  // The function of line 5 may be inlined itself: then a .loc of that position, which says where, has come before.
  void Location() {
    const uint32_t line = lexer_.Expect(".loc").line;
    const Position position = ReadPosition();
    source_file_ = static_cast<uint32_t>(position[0]);
    source_line_ = static_cast<uint32_t>(position[1]);
    inlined_ = 0;
    while (lexer_.Peek().line == line && lexer_.Peek().kind != Token::Kind::kEnd) {
      if (!lexer_.Accept("inlined_at")) {
        lexer_.Take();
        continue;
      }
      const Position at = ReadPosition();
      const auto around = inlined_of_.find(at);
      const uint32_t outer = around == inlined_of_.end() ? 0 : around->second;
      const auto next = static_cast<uint32_t>(function_.inlined.size());
      const auto [place, is_new] = inlined_at_.emplace(std::pair(at, outer), next);
      if (is_new) function_.inlined.push_back({static_cast<uint32_t>(at[0]), static_cast<uint32_t>(at[1]), outer});
      inlined_ = place->second;
    }
    if (inlined_ != 0) {
      inlined_of_[position] = inlined_;
    } else if (!inlined_of_.empty()) {
      inlined_of_.erase(position);
    }
  }

  void LabelAt(const Token& name) {
    // $L: .branchtargets a, b;
    for (const char* directive : {".branchtargets", ".callprototype", ".calltargets"}) {
      if (!lexer_.Accept(directive)) continue;
      std::vector<std::string>& targets = function_.branch_targets[std::string(name.text)];
      while (!lexer_.Peek().Is(";") && lexer_.Peek().kind != Token::Kind::kEnd) {
        const Token target = lexer_.Take();
        if (target.kind == Token::Kind::kWord) targets.emplace_back(target.text);
      }
      lexer_.Expect(";");
      return;
    }
    function_.labels.push_back(
        {std::string(name.text), scopes_.current(), static_cast<uint32_t>(function_.body.size())});
  }

  void Instruction() {
    Statement statement;
    lexer_.Expect("@");
    statement.guarded = true;
    statement.guard_negated = lexer_.Accept("!");
    const Token guard = lexer_.ExpectWord("a predicate");
    statement.guard = NeedRegister(guard);
    const Token op = lexer_.ExpectWord("an instruction");
    Instruction(op, std::move(statement));
  }

  void Instruction(const Token& op, Statement statement) {
    statement.line = op.line;
    statement.op = std::string(op.text);
    statement.scope = scopes_.current();
    statement.source_file = source_file_;
    statement.source_line = source_line_;
    statement.inlined = inlined_;
    if (op.text.front() == '.' || op.text.front() == '%') {
      throw PtxError(op.line, "expected an instruction, got '" + statement.op + "'");
    }
    if (!lexer_.Peek().Is(";")) {
      constexpr size_t kUsual = 4;
      statement.operands.reserve(kUsual);
      do {
        statement.operands.push_back(ReadOperand());
      } while (lexer_.Accept(","));
    }
    lexer_.Expect(";");
    function_.names_wgmma = function_.names_wgmma || op.text.starts_with("wgmma.");
    function_.body.push_back(std::move(statement));
  }

  uint32_t NeedRegister(const Token& name) const {
    uint32_t reg = 0;
    if (!scopes_.Find(name.text, &reg)) {
      throw PtxError(name.line, "the register '" + std::string(name.text) + "' is not declared");
    }
    return reg;
  }

  Operand ReadOperand() {
    Operand out;
    if (lexer_.Accept("{") || lexer_.Peek().Is("(")) {
      const char* const end = lexer_.Accept("(") ? ")" : "}";
      out.kind = Operand::Kind::kVector;
      if (!lexer_.Peek().Is(end)) {
        do {
          out.elements.push_back(ReadOperand());
        } while (lexer_.Accept(","));
      }
      lexer_.Expect(end);
      return out;
    }
    if (lexer_.Accept("[")) return Address();
    if (lexer_.Accept("!")) {
      out = ReadOperand();
      out.negated = true;
      return out;
    }
    if (lexer_.Peek().Is("-") || lexer_.Peek().kind == Token::Kind::kInteger ||
        lexer_.Peek().kind == Token::Kind::kFloat) {
      return Number();
    }
    return Name(lexer_.ExpectWord("an operand"));
  }

  Operand Number() {
    Operand out;
    const bool minus = lexer_.Accept("-");
    const Token number = lexer_.Take();
    out.value = number.value;
    if (number.kind == Token::Kind::kFloat) {
      out.kind = Operand::Kind::kFloat;
      out.float_bytes = number.float_bytes;
      if (minus) out.value ^= static_cast<int64_t>(1ULL << (number.float_bytes * 8 - 1));
    } else if (number.kind == Token::Kind::kInteger) {
      out.kind = Operand::Kind::kInteger;
      if (minus) out.value = static_cast<int64_t>(0 - static_cast<uint64_t>(out.value));
    } else {
      throw PtxError(number.line, "expected a number, got '" + std::string(number.text) + "'");
    }
    return out;
  }

  // %r1|%p1, %r1|_, _|%p1
  void Second(Operand* out) {
    if (!lexer_.Accept("|")) return;
    const Token second = lexer_.ExpectWord("a predicate");
    if (second.text == "_") return;
    out->has_second = true;
    out->second = NeedRegister(second);
  }

  Operand Name(const Token& name) {
    Operand out;
    if (name.text == "_") {
      Second(&out);
      return out;
    }
    if (name.text == "WARP_SZ") {
      out.kind = Operand::Kind::kInteger;
      out.value = 32;
      return out;
    }
    if (scopes_.Find(name.text, &out.reg)) {
      out.kind = Operand::Kind::kRegister;
      Second(&out);
      return out;
    }
    if (lexer_.Accept("|")) {
      throw PtxError(name.line, "the register '" + std::string(name.text) + "' is not declared");
    }
    out.kind = name.text.front() == '%' ? Operand::Kind::kSpecial : Operand::Kind::kSymbol;
    out.name = std::string(name.text);
    if (lexer_.Accept("+")) out.value = lexer_.ExpectInteger("a displacement");
    return out;
  }

  // [%rd1], [%rd1+4], [name], [name+4], [16]; of tensors and textures [%rd1, {%r1, %r2}]
  Operand Address() {
    Operand out;
    out.kind = Operand::Kind::kAddress;
    const Token& next = lexer_.Peek();
    if (next.kind == Token::Kind::kInteger) {
      out.value = lexer_.Take().value;
    } else {
      const Token base = lexer_.ExpectWord("an address");
      out.base_is_register = scopes_.Find(base.text, &out.reg);
      if (!out.base_is_register) {
        if (base.text.front() == '%')
          throw PtxError(base.line, "the register '" + std::string(base.text) + "' is not declared");
        out.name = std::string(base.text);
      }
      if (lexer_.Accept("+")) {
        out.value = lexer_.ExpectInteger("a displacement");
      } else if (lexer_.Peek().Is("-")) {
        out.value = lexer_.ExpectInteger("a displacement");
      }
    }
    if (lexer_.Accept(",")) {
      out.kind = Operand::Kind::kTensor;
      do {
        out.elements.push_back(ReadOperand());
      } while (lexer_.Accept(","));
    }
    lexer_.Expect("]");
    return out;
  }
};

}  // namespace

void ParseBody(Lexer* lexer, Function* function) { Body(lexer, function).Read(); }

}  // namespace kernpack::emulator
