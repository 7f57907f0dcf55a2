#include "ir/verify_checks.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <set>
#include <unordered_map>

#include "ir/lexer.h"

namespace kernpack::sdk::ir {
namespace {

class LeadingFinder : public Visitor {
 public:
  std::string name;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar && e->var()->leading) name = e->var()->name;
    Visitor::VisitExpr(e);
  }
};

using Keys = std::set<std::string>;

// The keys of each function, callees included.
class KeysOfFunctions {
 public:
  explicit KeysOfFunctions(const IRModule& module) {
    for (const PrimFunc& f : module.functions) functions_.emplace(f->name, f.get());
  }
  const Keys& Of(const std::string& function);

 private:
  std::unordered_map<std::string_view, const FuncNode*> functions_;
  std::unordered_map<std::string, Keys> known_;
};

class LiveKeys : public Visitor {
 public:
  LiveKeys(KeysOfFunctions* functions, const FuncNode& f) : functions_(*functions), f_(f) {}

  Keys all;  // that the function, or one it calls, allocates

  void VisitBlock(const Block& block) override {
    const size_t outer = live_.size();
    Visitor::VisitBlock(block);
    live_.resize(outer);
  }

  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kPersistent) {
      const std::string& key = s->buffer->key;
      if (IsLive(key)) Refuse(*s, "'" + s->buffer->name + "': persistent memory '" + key + "' is in use here already");
      all.insert(key);
      live_.push_back(&key);
    }
    if (s->kind == StmtKind::kCall) {
      const Keys& callee = functions_.Of(s->name);
      for (const std::string* key : live_) {
        if (callee.count(*key))
          Refuse(*s, "call of '" + s->name + "', which allocates persistent memory '" + *key + "', in use here");
      }
      all.insert(callee.begin(), callee.end());
    }
    Visitor::VisitStmt(s);
  }

 private:
  KeysOfFunctions& functions_;
  const FuncNode& f_;
  std::vector<const std::string*> live_;

  bool IsLive(const std::string& key) const {
    for (const std::string* live : live_) {
      if (*live == key) return true;
    }
    return false;
  }

  [[noreturn]] void Refuse(const StmtNode& s, const std::string& what) const {
    const std::string text = f_.name + ": " + what + ", and may move it; give one of the two another key";
    if (s.position.line) FailAt(s.position, text);
    KP_THROW(ValueError) << text;
  }
};

const Keys& KeysOfFunctions::Of(const std::string& function) {
  const auto known = known_.find(function);
  if (known != known_.end()) return known->second;
  const FuncNode& f = *functions_.at(function);
  LiveKeys finder(this, f);
  finder.VisitBlock(f.body);
  return known_.emplace(function, std::move(finder.all)).first->second;
}

}  // namespace

// A signature writes it as "...", which can stand first only and is the same for every tensor.
std::string FaultOfLeading(const Param& p, Var* leading) {
  const std::vector<Expr>& shape = p.buffer->shape;
  if (p.has_any_rank()) {
    const Var& own = shape[0]->var();
    if (*leading && *leading != own) {
      return p.name() + ": a function has one set of leading dimensions, '" + (*leading)->name + "...', not '" +
             own->name + "...' as well";
    }
    *leading = own;
  }
  LeadingFinder found;
  for (size_t d = p.has_any_rank() ? 1 : 0; d < shape.size(); ++d) found.VisitExpr(shape[d]);
  if (found.name.empty()) return "";
  return p.name() + ": '" + found.name +
         "...' stands for any number of dimensions: it can only be the first extent, alone";
}

void CheckPersistentKeys(const IRModule& module) {
  KeysOfFunctions functions(module);
  for (const PrimFunc& f : module.functions) functions.Of(f->name);
}

}  // namespace kernpack::sdk::ir
