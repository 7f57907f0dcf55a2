#include <kernpack/sdk/ir/text.h>

#include <unordered_set>

#include "ir/names.h"
#include "ir/parse_expr.h"

namespace kernpack::sdk::ir {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : lex_(text), exprs_(&lex_) {}

  IRModule Module() {
    IRModule m;
    if (lex_.Accept("module")) {
      m.name = lex_.TakeString();
      if (lex_.Accept("target")) m.target = lex_.TakeString();
      m.checked = lex_.Accept("checked");
    }
    std::unordered_set<std::string> names;
    while (lex_.now().kind != TokenKind::kEnd) {
      PrimFunc f = Function();
      if (!names.insert(f->name).second) FailAt(f->position, "function '" + f->name + "' is defined already");
      m.functions.push_back(std::move(f));
    }
    return m;
  }

  FuncNode Header(const std::string& name) {
    FuncNode f;
    f.name = name;
    exprs_.names.Enter();
    Interface(&f);
    if (lex_.now().kind != TokenKind::kEnd) lex_.Expected("the end of the header");
    return f;
  }

 private:
  Lexer lex_;
  ExprParser exprs_;
  int depth_ = 0;
  std::vector<std::pair<Token, Var>> shape_vars_;

  PrimFunc Function() {
    auto f = std::make_shared<FuncNode>();
    f->is_private = lex_.Accept("private");
    if (!lex_.Is("func")) lex_.Expected("'func' or 'private func'");
    f->position = lex_.Take().position;
    f->name = std::string(lex_.ExpectKind(TokenKind::kName, "the name of the function").text);
    exprs_.names.Enter();
    Interface(f.get());
    if (lex_.Accept("target")) f->target = lex_.TakeString();
    if (lex_.Accept("signature")) f->signature = lex_.TakeString();
    if (lex_.Accept("grad")) f->gradient = lex_.TakeString();
    f->body = Body();
    exprs_.names.Leave();
    return f;
  }

  // Parameters, results and the extents that they bind.
  void Interface(FuncNode* f) {
    shape_vars_.clear();
    exprs_.unknown = [this](const Token& name) {
      const Var var = MakeDim(std::string(name.text) + (lex_.Is("...") ? "..." : ""));
      exprs_.names.Define(name, {var, nullptr});
      shape_vars_.emplace_back(name, var);
      return var;
    };
    Params(Role::kInput, f);
    lex_.Expect("->");
    Params(Role::kResult, f);
    exprs_.unknown = nullptr;
    CheckBound(*f);
  }

  void CheckBound(const FuncNode& f) const {
    const std::vector<Var> all = ShapeVars(f);
    const std::unordered_set<Var> bound(all.begin(), all.end());
    for (const auto& [name, var] : shape_vars_) {
      if (!bound.count(var)) {
        FailAt(name.position, "no parameter binds '" + var->name + "': it must stand alone as an extent of one" +
                                  InPlaceOfPart(f, var));
      }
    }
  }

  // An extent such as D / 2 gives only a range of D, but the part gives the whole.
  static std::string InPlaceOfPart(const FuncNode& f, const Var& whole) {
    for (const Param& p : f.params) {
      if (!p.buffer) continue;
      for (const Expr& extent : p.buffer->shape) {
        int64_t parts = 0;
        const bool part = (extent->op == Op::kDiv || extent->op == Op::kFloorDiv) && extent->args[0]->op == Op::kVar &&
                          extent->args[0]->var() == whole && IsConstInt(extent->args[1], &parts);
        if (!part) continue;
        const std::string number = std::to_string(parts);
        const std::string named = whole->name == "E" ? "F" : "E";
        return "; write " + named + " in place of " + whole->name + " / " + number + ", and " + number + " * " + named +
               " in place of " + whole->name;
      }
    }
    return "";
  }

  void Params(Role role, FuncNode* f) {
    lex_.Expect("(");
    if (lex_.Accept(")")) return;
    do {
      const Token name = lex_.ExpectKind(TokenKind::kName, "the name of a parameter");
      Param p;
      p.role = role;
      p.position = name.position;
      if (role == Role::kInput && lex_.Accept("!")) p.role = Role::kInOut;
      lex_.Expect(":");
      const Type type = exprs_.ParseType();
      if (lex_.Accept("[")) {
        const std::vector<Expr> shape = Shape();
        p.buffer = exprs_.Checked(name.position, [&] { return MakeBuffer(std::string(name.text), type, shape); });
      } else if (p.role != Role::kInput) {
        FailAt(name.position, "'" + std::string(name.text) +
                                  "' is written to and must be a tensor: give it a shape, [] for one value");
      } else {
        p.var = exprs_.Checked(name.position, [&] { return MakeVar(std::string(name.text), type); });
      }
      exprs_.names.Define(name, {p.var, p.buffer});
      f->params.push_back(std::move(p));
    } while (lex_.Accept(","));
    lex_.Expect(")");
  }

  // Extents of a parameter, behind "[".
  std::vector<Expr> Shape() {
    std::vector<Expr> shape;
    if (lex_.Accept("]")) return shape;
    do {
      if (lex_.Is("...") || lex_.Is("*")) {
        FailAt(lex_.now().position, "any number of dimensions is written as a name and '...', as in [N...]");
      }
      const Position at = lex_.now().position;
      shape.push_back(exprs_.Parse());
      const bool leading = shape.back()->op == Op::kVar && shape.back()->var()->leading;
      if (lex_.Is("...") && !leading) {
        FailAt(lex_.now().position, "'...' follows a name that isn't used elsewhere, as in [N...]");
      }
      if (!lex_.Accept("...") && leading) {
        const std::string name = shape.back()->var()->name;
        FailAt(at, "'" + name + "' stands for any number of dimensions: write '" + name + "...'");
      }
    } while (lex_.Accept(","));
    lex_.Expect("]");
    return shape;
  }

  Block Body() {
    if (++depth_ > static_cast<int>(kMaxDepth)) FailAt(lex_.now().position, "blocks are nested too deep");
    lex_.Expect("{");
    exprs_.names.Enter();
    Block block;
    while (!lex_.Accept("}")) {
      const Position at = lex_.now().position;
      block.push_back(At(at, Statement()));
    }
    exprs_.names.Leave();
    --depth_;
    return block;
  }

  Stmt Statement() {
    const Token t = lex_.now();
    if (t.kind != TokenKind::kName) lex_.Expected("a statement or '}'");
    if (lex_.Accept("let")) return Let_(t.position);
    if (lex_.Accept("alloc")) return Alloc_(t.position);
    if (t.text == "for" || t.text == "parallel" || t.text == "vectorized" || t.text == "unrolled") return For_();
    if (lex_.Accept("if")) return If_(t.position);
    if (lex_.Accept("assert")) return Assert_(t.position);
    if (lex_.Accept("barrier")) return Barrier();
    if (lex_.Accept("launch")) return Launch_(t.position);
    if (lex_.Accept("call")) return Call_(t.position);
    if (lex_.Accept("evaluate")) {
      const Expr e = exprs_.Parse();
      return exprs_.Checked(t.position, [&] { return Evaluate(e); });
    }
    if (lex_.Accept("return")) return Return();
    if (lex_.Accept("while")) {
      const Expr condition = exprs_.Parse();
      const Block body = Body();
      return exprs_.Checked(t.position, [&] { return While(condition, body); });
    }
    if (lex_.Accept("break")) return Break();
    if (lex_.Accept("continue")) return Continue();
    return Store_(t.position);
  }

  Stmt Let_(Position at) {
    const Token name = lex_.ExpectKind(TokenKind::kName, "a name");
    Type type = kI64;
    const bool typed = lex_.Accept(":");
    if (typed) type = exprs_.ParseType();
    lex_.Expect("=");
    Expr value = exprs_.Parse();
    if (typed) value = exprs_.AdaptTo(type, value);
    const Stmt s =
        exprs_.Checked(at, [&] { return Let(MakeVar(std::string(name.text), typed ? type : value->type), value); });
    exprs_.names.Define(name, {s->var, nullptr});
    return s;
  }

  Stmt Store_(Position at) {
    const Buffer buffer = exprs_.ParseBufferName();
    lex_.Expect("[");
    const std::vector<Expr> indices = exprs_.ParseList("]");
    lex_.Expect("=");
    const Expr value = exprs_.AdaptTo(buffer->element, exprs_.Parse());
    const Expr mask = lex_.Accept("where") ? exprs_.Parse() : Expr();
    return exprs_.Checked(at, [&] { return Store(buffer, indices, value, mask); });
  }

  Stmt Alloc_(Position at) {
    const Token name = lex_.ExpectKind(TokenKind::kName, "a name");
    lex_.Expect(":");
    const Type type = exprs_.ParseType();
    lex_.Expect("[");
    const std::vector<Expr> shape = exprs_.ParseList("]");
    constexpr Scope kScopes[] = {Scope::kLocal, Scope::kShared, Scope::kWorkspace, Scope::kPersistent};
    const Scope* scope = nullptr;
    for (const Scope& s : kScopes) {
      if (lex_.Is(ScopeName(s))) scope = &s;
    }
    if (!scope) lex_.Expected("'local', 'shared', 'workspace' or 'persistent'");
    lex_.Take();
    std::string key;
    bool zeroed = false;
    if (*scope == Scope::kPersistent) {
      lex_.Expect("(");
      key = lex_.TakeString();
      zeroed = lex_.Accept(",");
      if (zeroed) lex_.Expect("zeroed");
      lex_.Expect(")");
    }
    const Stmt s =
        exprs_.Checked(at, [&] { return Alloc(MakeBuffer(std::string(name.text), type, shape, *scope, key, zeroed)); });
    exprs_.names.Define(name, {nullptr, s->buffer});
    return s;
  }

  Stmt For_() {
    const Token word = lex_.Take();
    ForKind kind = ForKind::kSerial;
    int lanes = 0;
    Tail tail = Tail::kPeeled;
    if (word.text == "parallel") {
      kind = ForKind::kParallel;
      if (lex_.Accept("(")) {
        lanes = exprs_.ParseSmallInt("the least number of iterations a thread takes");
        lex_.Expect(")");
      }
    } else if (word.text == "vectorized") {
      kind = ForKind::kVectorized;
      lex_.Expect("(");
      lanes = exprs_.ParseSmallInt("a number of lanes");
      if (lex_.Accept(",")) {
        if (lex_.Accept("masked")) {
          tail = Tail::kMasked;
        } else {
          lex_.Expect("peeled");
        }
      }
      lex_.Expect(")");
    } else if (word.text == "unrolled") {
      kind = ForKind::kUnrolled;
    }
    const Token name = lex_.ExpectKind(TokenKind::kName, "a variable");
    lex_.Expect("in");
    Expr begin, end;
    exprs_.ParseRange(&begin, &end);
    const Var var = exprs_.Checked(name.position, [&] { return MakeVar(std::string(name.text), begin->type); });
    exprs_.names.Enter();
    exprs_.names.Define(name, {var, nullptr});
    const Block body = Body();
    exprs_.names.Leave();
    return exprs_.Checked(word.position, [&] { return For(var, begin, end, body, kind, lanes, tail); });
  }

  Stmt If_(Position at) {
    const Expr condition = exprs_.Parse();
    const Block body = Body();
    const Block otherwise = lex_.Accept("else") ? Body() : Block();
    return exprs_.Checked(at, [&] { return If(condition, body, otherwise); });
  }

  Stmt Assert_(Position at) {
    const Expr condition = exprs_.Parse();
    lex_.Expect(",");
    std::string kind = "ValueError";
    if (lex_.now().kind == TokenKind::kName) kind = std::string(lex_.Take().text);
    const std::string message = lex_.TakeString();
    std::vector<Expr> values;
    while (lex_.Accept(",")) values.push_back(exprs_.Parse());
    return exprs_.Checked(at, [&] { return Assert(condition, message, kind, values); });
  }

  Stmt Launch_(Position at) {
    const auto extents = [this](const char* word) {
      lex_.Expect(word);
      lex_.Expect("(");
      const Position where = lex_.now().position;
      std::vector<Expr> list = exprs_.ParseList(")");
      if (list.empty() || list.size() > 3) FailAt(where, std::string(word) + ": expected 1 to 3 extents");
      return list;
    };
    const std::vector<Expr> grid = extents("grid");
    const std::vector<Expr> block = extents("block");
    Expr shared;
    if (lex_.Accept("shared")) {
      lex_.Expect("(");
      shared = exprs_.Parse();
      lex_.Expect(")");
    }
    const Block body = Body();
    return exprs_.Checked(at, [&] { return Launch(grid, block, shared, body); });
  }

  Stmt Call_(Position at) {
    const std::string name(lex_.ExpectKind(TokenKind::kName, "the name of a function").text);
    std::vector<Expr> scalars;
    std::vector<Buffer> buffers;
    lex_.Expect("(");
    if (!lex_.Accept(")")) {
      do {
        const NameTable::Entry* entry =
            lex_.now().kind == TokenKind::kName ? exprs_.names.Find(lex_.now().text) : nullptr;
        if (scalars.empty() && entry && entry->buffer) {
          buffers.push_back(exprs_.ParseBufferName());
          if (lex_.Is("["))
            lex_.Expected("',' or ')': tensors come first and whole, then scalars; bind an element with `let`");
        } else {
          scalars.push_back(exprs_.Parse());
        }
      } while (lex_.Accept(","));
      lex_.Expect(")");
    }
    return exprs_.Checked(at, [&] { return Call(name, scalars, buffers); });
  }
};

}  // namespace

IRModule Parse(std::string_view text) { return Parser(text).Module(); }

FuncNode ParseHeader(const std::string& name, std::string_view header) {
  CheckFunctionName(name);
  return Parser(header).Header(name);
}

}  // namespace kernpack::sdk::ir
