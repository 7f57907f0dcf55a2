#include "translate.h"

#include <algorithm>
#include <cctype>

#include "toy.h"

namespace toy {
namespace {

constexpr const char* kWhatRuns = "; the toy runs one loop that stores one element of f32, computed with + - *";

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Words, numbers, quoted strings, "..", "->", and single characters.
std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      i = end;
      continue;
    }
    if (text[i] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    } else if (IsWord(text[i])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
      while (end < text.size() && (IsWord(text[end]) || (number && text[end] == '.' && text.substr(end, 2) != "..")))
        ++end;
    } else if (text.substr(i, 2) == ".." || text.substr(i, 2) == "->") {
      ++end;
    }
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  tokens.emplace_back();
  return tokens;
}

class Translator {
 public:
  explicit Translator(std::string_view text) : tokens_(Tokens(text)) {}

  Translated Run() {
    Translated all;
    if (Accept("module")) all.module = Text();
    if (Accept("target")) Text();
    while (!tokens_[at_].empty()) {
      const bool is_private = Accept("private");
      Function function = OneFunction();
      if (!is_private) all.functions.push_back(std::move(function));
    }
    return all;
  }

 private:
  struct Parameter {
    std::string name;
    bool is_tensor;
  };

  std::vector<std::string> tokens_;
  size_t at_ = 0;
  std::string function_ = "module";
  std::vector<Parameter> parameters_;
  std::string counter_;

  [[noreturn]] void Fail(const std::string& what) const {
    throw Error("ValueError", function_ + ": " + what + kWhatRuns);
  }
  bool Accept(std::string_view token) {
    if (tokens_[at_] != token) return false;
    ++at_;
    return true;
  }
  void Expect(std::string_view token) {
    if (!Accept(token)) Fail("expected '" + std::string(token) + "', got '" + tokens_[at_] + "'");
  }
  std::string Take() {
    if (tokens_[at_].empty()) Fail("the text ends too soon");
    return tokens_[at_++];
  }
  std::string Text() {
    const std::string quoted = Take();
    return quoted.substr(1, quoted.size() - 2);
  }

  // "(x: f32[N], a: f32)" as a signature says it.
  std::string Parameters() {
    std::string text;
    Expect("(");
    while (!Accept(")")) {
      Accept(",");
      const std::string name = Take();
      Expect(":");
      Expect("f32");
      const bool is_tensor = Accept("[");
      std::string type = "float";
      if (is_tensor) {
        type = "f32[" + Take() + "]";
        Expect("]");
      }
      text += (text.empty() ? "" : ", ") + name + ": " + type;
      parameters_.push_back({name, is_tensor});
    }
    return "(" + text + ")";
  }

  Function OneFunction() {
    Function function;
    Expect("func");
    function_ = function.name = Take();
    parameters_.clear();
    function.signature = Parameters();
    Expect("->");
    function.signature += " -> " + Parameters();
    Expect("{");
    Loop();
    const std::string result = Element();
    Expect("=");
    function.kernel = "kernel " + function.name + ":" + Sum() + " ->" + result + "\n";
    Expect("}");
    Expect("}");
    return function;
  }

  // "parallel i in 0..N {", also of other kinds: each thread of the toy is an iteration.
  void Loop() {
    const std::string kind = Take();
    if (kind != "for" && kind != "parallel" && kind != "vectorized") Fail("expected a loop, got '" + kind + "'");
    if (Accept("(")) {
      while (Take() != ")") continue;
    }
    counter_ = Take();
    Expect("in");
    Expect("0");
    Expect("..");
    Take();
    Expect("{");
  }

  // " a0": a parameter, an element of it where it is a tensor.
  std::string Element() {
    const std::string name = Take();
    const auto found =
        std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.name == name; });
    if (found == parameters_.end()) Fail("'" + name + "' isn't a parameter");
    if (found->is_tensor) {
      Expect("[");
      Expect(counter_);
      Expect("]");
    }
    return " a" + std::to_string(found - parameters_.begin());
  }

  std::string Sum() {
    std::string text = Product();
    while (tokens_[at_] == "+" || tokens_[at_] == "-") {
      const std::string operation = Take();
      text += Product() + " " + operation;
    }
    return text;
  }
  std::string Product() {
    std::string text = Value();
    while (Accept("*")) text += Value() + " *";
    return text;
  }
  std::string Value() {
    if (Accept("(")) {
      std::string text = Sum();
      Expect(")");
      return text;
    }
    if (std::isdigit(static_cast<unsigned char>(tokens_[at_][0])) != 0) return " " + Take();
    return Element();
  }
};

}  // namespace

Translated Translate(std::string_view text) { return Translator(text).Run(); }

}  // namespace toy
