// A module: its header, variables and functions.
#include <unordered_map>

#include "ptx/parse.h"

namespace kernpack::emulator {

uint32_t TypeBytes(std::string_view type) {
  static const std::unordered_map<std::string_view, uint32_t> kBytes{
      {"pred", 1}, {"b8", 1},    {"u8", 1},    {"s8", 1},     {"b16", 2},  {"u16", 2},   {"s16", 2},   {"f16", 2},
      {"bf16", 2}, {"b32", 4},   {"u32", 4},   {"s32", 4},    {"f32", 4},  {"b64", 8},   {"u64", 8},   {"s64", 8},
      {"f64", 8},  {"b128", 16}, {"f16x2", 4}, {"bf16x2", 4}, {"tf32", 4}, {"u16x2", 4}, {"s16x2", 4},
  };
  const auto found = kBytes.find(type);
  return found == kBytes.end() ? 0 : found->second;
}

namespace {

// The oldest and newest versions of PTX that are read: CUDA 11.0 to 13.
constexpr int kOldest = 60;
constexpr int kNewest = 99;

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}

  Module Read() {
    Version();
    while (lexer_.Peek().kind != Token::Kind::kEnd) Item();
    if (module_.target.empty()) throw PtxError(lexer_.Peek().line, "expected '.target', which names an architecture");
    return std::move(module_);
  }

 private:
  Lexer lexer_;
  Module module_;

  void Version() {
    const uint32_t line = lexer_.Expect(".version").line;
    const Token version = lexer_.Take();
    const size_t dot = version.text.find('.');
    if (version.kind != Token::Kind::kFloat || dot != 1) {
      throw PtxError(line, "expected a version such as 8.0, got '" + std::string(version.text) + "'");
    }
    module_.version = (version.text[0] - '0') * 10 + (version.text[2] - '0');
    if (module_.version < kOldest || module_.version > kNewest) {
      throw PtxError(line, "PTX version " + std::string(version.text) + " is not known here; expected 6.0 to 9.9");
    }
  }

  void Item() {
    bool is_extern = false;
    for (;;) {
      if (lexer_.Accept(".visible") || lexer_.Accept(".weak") || lexer_.Accept(".common")) continue;
      if (!lexer_.Accept(".extern")) break;
      is_extern = true;
    }
    const Token next = lexer_.Peek();
    Space space{};
    if (lexer_.Accept(".target")) {
      module_.target = std::string(lexer_.ExpectWord("an architecture").text);
      while (lexer_.Accept(",")) lexer_.ExpectWord("a target option");
    } else if (lexer_.Accept(".address_size")) {
      if (lexer_.ExpectInteger("an address size") != 64) throw PtxError(next.line, "expected '.address_size 64'");
    } else if (lexer_.Accept(".file")) {
      File();
    } else if (lexer_.Accept(".section")) {
      Skip();
    } else if (lexer_.Accept(".pragma")) {
      lexer_.Take();
      lexer_.Expect(";");
    } else if (lexer_.Accept(".alias")) {
      throw PtxError(next.line, ".alias isn't emulated");
    } else if (SpaceOfDirective(next.text, &space)) {
      for (Variable& variable : ParseVariables(&lexer_)) {
        variable.is_extern = is_extern;
        module_.variables.push_back(std::move(variable));
      }
    } else if (next.Is(".entry") || next.Is(".func")) {
      ParseFunction(lexer_.Take().text == ".entry");
    } else {
      throw PtxError(next.line, "expected a directive such as .entry or .global, got '" +
                                    std::string(next.text.substr(0, 60)) + "'");
    }
  }

  void File() {
    const int64_t number = lexer_.ExpectInteger("the number of a file");
    module_.files[static_cast<uint32_t>(number)] = std::string(lexer_.Take().text);
    while (lexer_.Accept(",")) lexer_.ExpectInteger("the file's time or size");
  }

  // Debug information: up to the brace that closes it.
  void Skip() {
    const uint32_t line = lexer_.Peek().line;
    int depth = 0;
    do {
      const Token token = lexer_.Take();
      if (token.kind == Token::Kind::kEnd) throw PtxError(line, "a section that begins here does not end");
      if (token.Is("{")) ++depth;
      if (token.Is("}")) --depth;
      if (depth == 0 && token.Is("}")) return;
    } while (true);
  }

  std::vector<Variable> Parameters() {
    std::vector<Variable> all;
    if (!lexer_.Accept("(") || lexer_.Accept(")")) return all;
    do {
      all.push_back(ParseParameter(&lexer_));
    } while (lexer_.Accept(","));
    lexer_.Expect(")");
    return all;
  }

  void Triple(uint32_t* out) {
    out[0] = out[1] = out[2] = 1;
    int i = 0;
    do {
      const int64_t extent = lexer_.ExpectInteger("a number of threads");
      if (i < 3) out[i++] = static_cast<uint32_t>(extent);
    } while (lexer_.Accept(","));
  }

  void ParseFunction(bool entry) {
    Function function;
    function.entry = entry;
    if (!entry && lexer_.Peek().Is("(")) function.results = Parameters();
    const Token name = lexer_.ExpectWord("a function's name");
    function.name = std::string(name.text);
    function.line = name.line;
    function.parameters = Parameters();
    for (;;) {
      if (lexer_.Accept(".maxntid")) {
        Triple(function.max_threads);
      } else if (lexer_.Accept(".reqntid")) {
        Triple(function.required_threads);
      } else if (lexer_.Accept(".minnctapersm") || lexer_.Accept(".maxnreg") || lexer_.Accept(".abi_preserve") ||
                 lexer_.Accept(".abi_preserve_control") || lexer_.Accept(".maxclusterrank")) {
        lexer_.ExpectInteger("a number");
      } else if (lexer_.Accept(".reqnctapercluster")) {
        Triple(function.cluster);
        function.explicit_cluster = true;
      } else if (lexer_.Accept(".explicitcluster")) {
        function.explicit_cluster = true;
      } else if (lexer_.Accept(".pragma")) {
        lexer_.Take();
        lexer_.Expect(";");
      } else if (!lexer_.Accept(".noreturn")) {
        break;
      }
    }
    function.defined = lexer_.Peek().Is("{");
    if (function.defined) {
      ParseBody(&lexer_, &function);
    } else {
      lexer_.Expect(";");
    }
    module_.functions.push_back(std::move(function));
  }
};

}  // namespace

Module Parse(std::string_view text) { return Reader(text).Read(); }

}  // namespace kernpack::emulator
