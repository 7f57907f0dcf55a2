// Variables and parameters.
#include <bit>
#include <cstring>

#include "ptx/parse.h"

namespace kernpack::emulator {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 32;

void CheckSize(const Token& name, uint64_t elements, uint64_t bytes) {
  if (elements <= kMostBytes && elements * bytes <= kMostBytes) return;
  throw PtxError(name.line, "the variable '" + std::string(name.text) + "' is larger than 4 GiB");
}

// [4][8]; "[]" leaves the size open.
uint64_t Extents(Lexer* lexer, const Token& name, bool* open) {
  uint64_t elements = 1;
  while (lexer->Accept("[")) {
    if (lexer->Accept("]")) {
      *open = true;
      continue;
    }
    const int64_t extent = lexer->ExpectInteger("an extent");
    if (extent < 0) throw PtxError(name.line, "the variable '" + std::string(name.text) + "' has a negative extent");
    CheckSize(name, static_cast<uint64_t>(extent), elements);
    elements *= static_cast<uint64_t>(extent);
    lexer->Expect("]");
  }
  return elements;
}

// A number, or the address of a variable.
void InitialElement(Lexer* lexer, Variable* variable, uint32_t bytes) {
  uint64_t bits = 0;
  if (lexer->Peek().kind == Token::Kind::kWord) {
    Variable::Address address{variable->initial.size(), "", 0, false};
    address.generic = lexer->Accept("generic");
    if (address.generic) lexer->Expect("(");
    address.symbol = std::string(lexer->ExpectWord("a variable's name").text);
    if (address.generic) lexer->Expect(")");
    if (lexer->Accept("+")) address.displacement = lexer->ExpectInteger("a displacement");
    if (bytes != 8)
      throw PtxError(lexer->Peek().line, "expected an element of 8 bytes for the address of " + address.symbol);
    variable->addresses.push_back(address);
  } else if (lexer->Peek().kind == Token::Kind::kFloat) {
    const Token number = lexer->Take();
    bits = static_cast<uint64_t>(number.value);
    if (number.float_bytes == 8 && bytes == 4) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(number.value)));
    }
  } else {
    bits = static_cast<uint64_t>(lexer->ExpectInteger("an initial value"));
  }
  char raw[8];
  std::memcpy(raw, &bits, sizeof raw);
  variable->initial.append(raw, bytes);
}

void Initial(Lexer* lexer, Variable* variable, uint32_t bytes) {
  if (!lexer->Accept("{")) return InitialElement(lexer, variable, bytes);
  if (lexer->Accept("}")) return;
  do {
    if (lexer->Peek().Is("{")) {
      Initial(lexer, variable, bytes);
    } else {
      InitialElement(lexer, variable, bytes);
    }
  } while (lexer->Accept(","));
  lexer->Expect("}");
}

// The type, behind .align, .v2 and the attributes of pointers.
void Attributes(Lexer* lexer, Variable* out, uint32_t* vector) {
  for (;;) {
    const Token& next = lexer->Peek();
    if (next.kind != Token::Kind::kWord || next.text.front() != '.') return;
    const Token word = lexer->Take();
    const std::string_view name = word.text.substr(1);
    if (name == "align") {
      const int64_t align = lexer->ExpectInteger("an alignment");
      if (align <= 0 || (align & (align - 1)) != 0 || align > 4096)
        throw PtxError(word.line,
                       "expected an alignment that is a power of two up to 4096, got " + std::to_string(align));
      if (out->type.empty()) out->align = static_cast<uint32_t>(align);  // behind .ptr it is that of what is pointed to
    } else if (name == "v2" || name == "v4") {
      *vector = name == "v2" ? 2 : 4;
    } else if (name == "attribute") {
      lexer->Expect("(");
      while (!lexer->Accept(")")) out->managed |= lexer->Take().Is(".managed");
    } else if (TypeBytes(name) != 0) {
      out->type = std::string(name);
    } else if (name != "ptr" && name != "global" && name != "shared" && name != "const" && name != "local") {
      throw PtxError(word.line, "expected a type, got '" + std::string(word.text) + "'");
    }
  }
}

}  // namespace

bool SpaceOfDirective(std::string_view word, Space* out) {
  if (word == ".global") return *out = Space::kGlobal, true;
  if (word == ".shared") return *out = Space::kShared, true;
  if (word == ".local") return *out = Space::kLocal, true;
  if (word == ".const") return *out = Space::kConst, true;
  if (word == ".param") return *out = Space::kParam, true;
  return false;
}

std::vector<Variable> ParseVariables(Lexer* lexer) {
  Variable common;
  const Token directive = lexer->Take();
  SpaceOfDirective(directive.text, &common.space);
  common.line = directive.line;
  uint32_t vector = 1;
  Attributes(lexer, &common, &vector);
  if (common.type.empty())
    throw PtxError(directive.line, "expected a variable's type after " + std::string(directive.text));
  const uint32_t bytes = TypeBytes(common.type);
  std::vector<Variable> all;
  do {
    Variable variable = common;
    const Token name = lexer->ExpectWord("a variable's name");
    variable.name = std::string(name.text);
    bool open = false;
    const uint64_t elements = Extents(lexer, name, &open) * vector;
    CheckSize(name, elements, bytes);
    variable.bytes = open ? 0 : elements * bytes;
    variable.align = std::max(variable.align, bytes * vector);
    if (lexer->Accept("=")) Initial(lexer, &variable, bytes);
    if (open && !variable.initial.empty()) variable.bytes = variable.initial.size();
    if (variable.initial.size() > variable.bytes)
      throw PtxError(name.line, "the variable '" + variable.name + "' has more initial values than elements");
    all.push_back(std::move(variable));
  } while (lexer->Accept(","));
  lexer->Expect(";");
  return all;
}

Variable ParseParameter(Lexer* lexer) {
  Variable out;
  out.space = Space::kParam;
  const Token begin = lexer->Peek();
  if (!lexer->Accept(".param")) {
    if (lexer->Peek().Is(".reg"))
      throw PtxError(begin.line, "parameters in registers (.reg) aren't emulated; expected .param");
    throw PtxError(begin.line, "expected '.param', got '" + std::string(begin.text) + "'");
  }
  out.line = begin.line;
  uint32_t vector = 1;
  Attributes(lexer, &out, &vector);
  if (out.type.empty()) throw PtxError(begin.line, "expected a parameter's type");
  const Token name = lexer->ExpectWord("a parameter's name");
  out.name = std::string(name.text);
  bool open = false;
  const uint64_t elements = Extents(lexer, name, &open) * vector;
  CheckSize(name, elements, TypeBytes(out.type));
  out.bytes = elements * TypeBytes(out.type);
  out.align = std::max(out.align, TypeBytes(out.type) * vector);
  return out;
}

}  // namespace kernpack::emulator
