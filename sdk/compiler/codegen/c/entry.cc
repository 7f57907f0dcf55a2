#include "codegen/c/entry.h"

#include <kernpack/error.h>

#include <algorithm>

#include "codegen/binder.h"

namespace kernpack::sdk::ir {
namespace {

const char* CodeName(Type t) {
  switch (t.code) {
    case KP_DTYPE_INT:
      return "KP_DTYPE_INT";
    case KP_DTYPE_UINT:
      return "KP_DTYPE_UINT";
    case KP_DTYPE_FLOAT:
      return "KP_DTYPE_FLOAT";
    case KP_DTYPE_BFLOAT:
      return "KP_DTYPE_BFLOAT";
    case KP_DTYPE_BOOL:
      return "KP_DTYPE_BOOL";
    case KP_DTYPE_FLOAT8_E4M3FN:
      return "KP_DTYPE_FLOAT8_E4M3FN";
    default:
      return "KP_DTYPE_FLOAT8_E5M2";
  }
}

class Entry {
 public:
  Entry(const FuncNode& f, const EntryNames& entry, Helpers* helpers)
      : f_(f),
        entry_(entry),
        h_(*helpers),
        names_([d = &helpers->dialect()](std::string_view name) { return d->IsReserved(name); }) {
    names_.Fresh(entry.inner);
    names_.Fresh("n");
    for (const Param& p : f.params) {
      first_slot_.push_back(slots_);
      slots_ += p.buffer ? 1 + p.buffer->shape.size() : 1;
    }
  }

  std::string Lines() {
    Line("const KpHost* const host = ((KpInstance*)self)->host;");
    Line("uint64_t kp_slots[" + std::to_string(std::max<size_t>(slots_, 1)) + "];");
    Unpack();
    Line("(void)result;");
    for (size_t i = 0; i < f_.params.size(); ++i) Argument(i);
    for (const DimBinder& binder : FindBinders(f_)) {
      Line("const int64_t " + names_.Define(binder.var.get(), binder.var->name) + " = " +
           Size(binder.param, binder.axis) + ";");
      given_.push_back(names_.Get(binder.var.get(), binder.var->name));
    }
    for (size_t i = 0; i < f_.params.size(); ++i) CheckShape(i);
    Line("return " + FormatCall(entry_.inner, given_) + ";");
    return out_;
  }

 private:
  const FuncNode& f_;
  const EntryNames& entry_;
  Helpers& h_;
  Names names_;
  size_t slots_ = 0;
  std::vector<size_t> first_slot_;
  std::vector<std::string> given_;  // what the function is called with
  std::string out_;

  void Line(const std::string& text) { out_ += "  " + text + "\n"; }
  static std::string Slot(size_t i) { return "kp_slots[" + std::to_string(i) + "]"; }
  // Extent d of the tensor as the function sees it.
  std::string Size(size_t param, size_t d) const { return "(int64_t)" + Slot(first_slot_[param] + 1 + d); }

  void Unpack() {
    if (entry_.code.empty()) {
      Line("if (kp_unpack_on_cpu(host, &" + entry_.description + ", args, n, kp_slots)) return -1;");
    } else {
      Line("KpKernelArg kp_memory[" + std::to_string(f_.params.size()) + "];");
      Line("KpFrameCall kp_call;");
      Line("if (kp_frame_unpack_device(self, &" + entry_.description + ", " + entry_.code +
           ", args, n, kp_slots, kp_memory, &kp_call)) return -1;");
      given_.emplace_back("&kp_call");
    }
    given_.emplace_back("host");
  }

  void Argument(size_t i) {
    const Param& p = f_.params[i];
    const std::string slot = Slot(first_slot_[i]);
    if (p.buffer) {
      const std::string type = entry_.code.empty()
                                   ? (p.role == Role::kInput ? "const " : "") + CMemory(p.buffer->element)
                                   : "const KpKernelArg";
      given_.push_back("(" + type + "*)(uintptr_t)" + slot);
      return;
    }
    const Type t = p.var->type;
    const std::string& name = names_.Define(p.var.get(), p.name());
    Line("const " + CElement(t) + " " + name + " = " +
         (t.is_floating_point() ? Bare(h_.Cast(kF64, t, "kp_number_in(" + slot + ")"))
                                : "(" + CElement(t) + ")" + slot) +
         ";");
    given_.push_back(name);
  }

  bool Binds(size_t param, size_t d) const {
    const std::vector<DimBinder> binders = FindBinders(f_);
    return std::any_of(binders.begin(), binders.end(),
                       [&](const DimBinder& b) { return b.param == param && b.axis == d; });
  }

  void CheckShape(size_t i) {
    const Param& p = f_.params[i];
    for (size_t d = 0; p.buffer && d < p.buffer->shape.size(); ++d) {
      if (Binds(i, d)) continue;
      Line("if (kp_check_extent(host, " + CString(f_.name) + ", " + CString(p.name()) + ", " + std::to_string(d) +
           ", " + Size(i, d) + ", " + Bare(Extent(p.buffer->shape[d])) + ")) return -1;");
    }
  }

  std::string Extent(const Expr& e) {
    if (e->op == Op::kConst) return CConst(e->type, e->bits());
    if (e->op == Op::kVar) return names_.Get(e->var().get(), e->var()->name);
    std::vector<std::string> args;
    for (const Expr& a : e->args) args.push_back(Extent(a));
    if (e->op == Op::kCast) return h_.Cast(e->args[0]->type, e->type, args[0]);
    if (e->op == Op::kStrict) return args[0];
    if (e->op == Op::kSelect) return h_.Select(e->type, args[0], args[1], args[2]);
    if (HasTwoOperands(ClassOf(e->op))) return h_.Binary(e->op, e->args[0]->type, args[0], args[1]);
    if (args.size() == 1 && ClassOf(e->op) == OpClass::Unary) return h_.Unary(e->op, e->type, args[0]);
    KP_THROW(NotImplementedError) << f_.name << ": an extent of a parameter uses '" << OpName(e->op) << '\'';
  }
};

}  // namespace

std::string WriteDescription(const FuncNode& f, const std::string& name) {
  std::string rows;
  for (const Param& p : f.params) {
    const Type t = p.buffer ? p.buffer->element : p.var->type;
    rows += "    {" + CString(p.name()) + ", " + (p.buffer ? std::to_string(p.buffer->shape.size()) : "-1") + ", " +
            CodeName(t) + ", " + std::to_string(t.bits) + ", " + (p.has_any_rank() ? "1" : "0") + "},\n";
  }
  const std::string params = rows.empty() ? "NULL" : name + "_params";
  if (!rows.empty()) rows = "\nstatic const KpFrameParam " + params + "[] = {\n" + rows + "};\n";
  return rows + "static const KpFrameFunction " + name + " = {" + CString(f.name) + ", " + params + ", " +
         std::to_string(f.params.size()) + "};\n";
}

std::string WriteEntry(const FuncNode& f, const EntryNames& names, Helpers* helpers) {
  return "\nstatic int " + names.entry + "(void* self, const KpAny* args, int32_t n, KpAny* result) {\n" +
         Entry(f, names, helpers).Lines() + "}\n";
}

}  // namespace kernpack::sdk::ir
