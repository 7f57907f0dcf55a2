#include <kernpack/sdk/ir/equal.h>

#include <cstring>
#include <unordered_map>

#include "ir/stable_hash.h"

namespace kernpack::sdk::ir {
namespace {

uint64_t HashText(std::string_view text) { return StableHash(text.data(), text.size()); }

// Writes a function as bytes in which variables are numbers: equal functions, and only they, give equal bytes.
class Canon {
 public:
  std::string bytes;

  void Expression(const Expr& e) {
    if (!e) return Number(255);
    Number(static_cast<uint8_t>(e->op));
    WriteType(e->type);
    if (e->op == Op::kReduce) return WriteReduce(*e);
    Number(e->args.size());
    for (const Expr& a : e->args) Expression(a);
    std::visit([this](const auto& detail) { Detail(detail); }, e->detail);
  }

  void Function(const FuncNode& f) {
    Text(f.name);
    Number(f.is_private);
    Text(f.target);
    Text(f.signature);
    Text(f.gradient);
    Number(f.params.size());
    for (const Var& v : ShapeVars(f)) {
      Bind(v.get());
      Number(v->leading);
    }
    for (const Param& p : f.params) {
      Text(p.name());
      Number(static_cast<uint8_t>(p.role));
      Bind(p.buffer ? static_cast<const void*>(p.buffer.get()) : p.var.get());
      if (p.var) WriteType(p.var->type);
    }
    for (const Param& p : f.params) {
      if (p.buffer) WriteBuffer(*p.buffer);
    }
    WriteBlock(f.body);
  }

 private:
  std::unordered_map<const void*, uint64_t> numbers_;

  void Number(uint64_t n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void Text(std::string_view text) {
    Number(text.size());
    bytes += text;
  }
  void WriteType(Type t) {
    Number(static_cast<uint64_t>(t.code) << 32 | static_cast<uint64_t>(t.bits) << 16 | t.lanes);
  }
  void Bind(const void* node) { numbers_.emplace(node, numbers_.size()); }
  // A free variable is its own address.
  void Use(const void* node) {
    const auto found = numbers_.find(node);
    Number(found != numbers_.end() ? found->second : reinterpret_cast<uintptr_t>(node));
  }

  void Detail(std::monostate) {}
  void Detail(uint64_t n) { Number(n); }
  void Detail(const Var& v) { Use(v.get()); }
  void Detail(const Buffer& b) { Use(b.get()); }
  void Detail(const std::vector<int>& lanes) {
    for (const int lane : lanes) Number(static_cast<uint64_t>(lane));
  }
  void Detail(Op op) { Number(static_cast<uint64_t>(op)); }
  void Detail(const Reduction&) {}
  void Detail(const std::string& text) { Text(text); }

  void WriteReduce(const ExprNode& e) {
    const Reduction& r = std::get<Reduction>(e.detail);
    Number(static_cast<uint64_t>(r.op));
    Number(static_cast<uint64_t>(r.lanes));
    WriteType(r.var->type);
    Expression(e.args[0]);
    Expression(e.args[1]);
    Bind(r.var.get());
    Expression(e.args[2]);
  }

  void WriteBuffer(const BufferNode& b) {
    WriteType(b.element);
    Number(b.shape.size());
    for (const Expr& e : b.shape) Expression(e);
    Number(static_cast<uint64_t>(b.scope));
    Text(b.key);
    Number(b.zeroed);
  }

  void Statement(const StmtNode& s) {
    Number(static_cast<uint64_t>(s.kind));
    Number(s.args.size());
    for (const Expr& e : s.args) Expression(e);
    Expression(s.mask);
    if (s.kind == StmtKind::kAlloc) {
      WriteBuffer(*s.buffer);
      Bind(s.buffer.get());
    } else if (s.buffer) {
      Use(s.buffer.get());
    }
    if (s.var) {
      WriteType(s.var->type);
      Bind(s.var.get());
    }
    Number(static_cast<uint64_t>(s.for_kind) << 32 | static_cast<uint64_t>(s.lanes) << 1 | (s.tail == Tail::kMasked));
    Text(s.name);
    Text(s.text);
    Number(s.buffers.size());
    for (const Buffer& b : s.buffers) Use(b.get());
    WriteBlock(s.body);
    WriteBlock(s.otherwise);
  }

  void WriteBlock(const Block& block) {
    Number(block.size());
    for (const Stmt& s : block) Statement(*s);
  }
};

std::string PrintCanonical(const FuncNode& f) {
  Canon canon;
  canon.Function(f);
  return std::move(canon.bytes);
}

}  // namespace

bool Equal(const FuncNode& a, const FuncNode& b) { return &a == &b || PrintCanonical(a) == PrintCanonical(b); }

bool Equal(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  Canon left, right;
  left.Expression(a);
  right.Expression(b);
  return left.bytes == right.bytes;
}

bool Equal(const IRModule& a, const IRModule& b) {
  if (a.name != b.name || a.target != b.target || a.checked != b.checked) return false;
  if (a.functions.size() != b.functions.size()) return false;
  for (size_t i = 0; i < a.functions.size(); ++i) {
    if (!Equal(*a.functions[i], *b.functions[i])) return false;
  }
  return true;
}

uint64_t Hash(const FuncNode& function) { return HashText(PrintCanonical(function)); }

uint64_t Hash(const IRModule& module) {
  std::string all = module.name + '\0' + module.target + '\0';
  if (module.checked) all += "checked";
  for (const PrimFunc& f : module.functions) all += PrintCanonical(*f);
  return HashText(all);
}

}  // namespace kernpack::sdk::ir
