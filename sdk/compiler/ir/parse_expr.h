// Reads expressions of the text form.
#ifndef KERNPACK_SDK_COMPILER_IR_PARSE_EXPR_H_
#define KERNPACK_SDK_COMPILER_IR_PARSE_EXPR_H_

#include <kernpack/error.h>

#include <functional>
#include <map>
#include <unordered_map>

#include "ir/lexer.h"

namespace kernpack::sdk::ir {

// The meaning of names at one place of a function.
class NameTable {
 public:
  struct Entry {
    Var var;        // one of the two is null
    Buffer buffer;
  };
  void Enter() { scopes_.emplace_back(); }
  void Leave() { scopes_.pop_back(); }
  const Entry* Find(std::string_view name) const;
  // A name has one meaning at a time.
  void Define(const Token& name, Entry entry);

 private:
  std::vector<std::map<std::string, Entry, std::less<>>> scopes_;
};

class ExprParser {
 public:
  explicit ExprParser(Lexer* lexer) : lex_(*lexer) {}

  NameTable names;
  // Called for a name that has no meaning; null: that is an error. Extents of parameters bind names so.
  std::function<Var(const Token&)> unknown;

  Expr Parse(int precedence = 1);
  std::vector<Expr> ParseList(std::string_view close);  // up to and with the closing sign
  // Runs f, which makes nodes; their errors get the position.
  template <class F>
  auto Checked(Position position, F f) -> decltype(f()) {
    try {
      return f();
    } catch (const Error& e) {
      FailAt(position, e.what(), e.kind().data);
    }
  }
  // Literals without a type take that of the other operand.
  void Adapt(Expr* a, Expr* b);
  Expr AdaptTo(Type type, const Expr& e);
  Buffer ParseBufferName();
  Type ParseType();
  int ParseSmallInt(const char* what);
  Op ParseReduction(bool with_args = false);
  void ParseRange(Expr* begin, Expr* end);

 private:
  Lexer& lex_;
  int depth_ = 0;
  // A literal without a type.
  struct Flexible {
    Expr expr;  // kept, so that no other takes its address
    double value;  // of a float
    std::string text;  // as written
  };
  std::unordered_map<const ExprNode*, Flexible> flexible_;

  const Flexible* FindFlexible(const Expr& e) const;
  Expr ParseUnary();
  Expr ParsePrimary();
  Expr ParseNumber(bool negative);
  Expr ParseSpecialFloat(bool negative);
  Expr ParseCall(const Token& name);
  Expr ParseForm(const Token& name);
  Expr ParseReduce(Position position);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_PARSE_EXPR_H_
