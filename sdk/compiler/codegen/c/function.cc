#include "codegen/c/function.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "codegen/binder.h"

namespace kernpack::sdk::ir {
CFunction::CFunction(const IRModule& module, const FuncNode& f, Helpers* helpers, Names* functions)
    : CBody(f, helpers), module_(module), functions_(*functions) {
  // A variable must not hide a function.
  for (const PrimFunc& other : module.functions) names_.Fresh(functions_.Get(other.get(), other->name));
}

std::string CFunction::Write() {
  std::string params = FirstParameters() + "const KpHost* host";
  std::vector<std::pair<const void*, std::string>> all;
  const auto add = [&](const void* node, const std::string& type, const std::string& name) {
    params += ", " + type + name;
    all.emplace_back(node, name);
  };
  for (const Param& p : f_.params) {
    if (p.buffer) {
      add(p.buffer.get(), BufferParameter(p.buffer), Define(p.buffer));
    } else {
      add(p.var.get(), CElement(p.var->type) + " ", Define(p.var));
    }
  }
  for (const Var& v : ShapeVars(f_)) add(v.get(), "int64_t ", Define(v));
  Lines(f_.body);
  if (f_.body.empty() || f_.body.back()->kind != StmtKind::kReturn) Line("return 0;");
  std::string unused;
  if (!frames_.back().uses_host) unused += "  (void)host;\n";
  for (const auto& [node, name] : all) {
    if (!frames_.back().mentioned.count(node)) unused += "  (void)" + name + ";\n";
  }
  const std::string name = functions_.Get(&f_, f_.name);
  return outlined_ + "\nstatic int " + name + "(" + params + ") {\n" + unused + out_ + "}\n";
}

void CFunction::Capture(const void* node, const std::string& type, const std::string& name) {
  // From the innermost function out to the one that has it.
  for (size_t i = frames_.size(); i-- > 0;) {
    Frame& frame = frames_[i];
    const bool first = frame.mentioned.insert(node).second;
    if (i == 0 || frame.own.count(node)) return;
    if (first) frame.captured.emplace_back(type, name);
  }
}
void CFunction::Mention(const Var& var) {
  h_.Need(var->type);
  Capture(var.get(), CType(var->type) + " ", names_.Get(var.get(), var->name));
}
void CFunction::Mention(const Buffer& buffer) {
  Capture(buffer.get(), Pointer(buffer), names_.Get(buffer.get(), buffer->name));
}
std::string CFunction::Host() {
  for (Frame& frame : frames_) frame.uses_host = true;
  return "host";
}

std::string CFunction::FreshFunction(const std::string& wanted) {
  std::string name;
  do {
    name = functions_.Fresh(wanted);
  } while (names_.Fresh(name) != name);
  return name;
}

void CFunction::Special(const StmtNode& s) {
  switch (s.kind) {
    case StmtKind::kAlloc:
      return AllocLines(s);
    case StmtKind::kFor:
      return Parallel(s);
    case StmtKind::kAssert:
      return AssertLines(s);
    case StmtKind::kCall:
      return CallLines(s);
    case StmtKind::kReturn:
      return Line("return 0;");
    default:
      return LaunchLines(s);
  }
}

void CFunction::AssertLines(const StmtNode& s) {
  const std::string head = "return kp_fail_with(" + Host() + ", " + CString(s.name) + ", " + CString(s.text) + ", ";
  const std::string condition = E(s.args[0]);
  if (s.args.size() == 1) return Line("if (!" + condition + ") " + head + "NULL, 0);");
  std::string list;
  for (size_t i = 1; i < s.args.size(); ++i) list += (i == 1 ? "" : ", ") + E(s.args[i]);
  const std::string values = names_.Fresh("values");
  Line("if (!" + condition + ") {");
  Line("  const int64_t " + values + "[] = {" + list + "};");
  Line("  " + head + values + ", " + std::to_string(s.args.size() - 1) + ");");
  Line("}");
}

std::string CFunction::ScratchLines(const BufferNode& b, const std::string& key, const std::string& times) {
  std::string extents = times;
  for (const Expr& e : b.shape) extents += (extents.empty() ? "" : ", ") + E(Cast(kI64, e));
  const size_t count = b.shape.size() + (times.empty() ? 0 : 1);
  const std::string raw = names_.Fresh(b.name + "_memory"), sizes = names_.Fresh(b.name + "_extents");
  const bool zeroed = b.scope == Scope::kPersistent && b.zeroed;
  Line("void* " + raw + ";");
  Line("const int64_t " + sizes + "[] = {" + (extents.empty() ? "1" : extents) + "};");
  Line("if (" + ScratchHead() + CString(key) + ", " + (zeroed ? "KP_WORKSPACE_ZEROED" : "0") + ", sizeof(" +
       CMemory(b.element) + "), " + std::to_string(std::max<size_t>(count, 1)) + ", " + sizes + ", &" + raw +
       ")) return -1;");
  return raw;
}

void CFunction::AllocLines(const StmtNode& s) {
  const BufferNode& b = *s.buffer;
  if (b.scope == Scope::kShared) Refuse("shared memory: '" + b.name + "'");
  // Keys of scratch memory hold a character that keys of persistent memory may not need to avoid: the function's name
  // and a number.
  const std::string name = Define(s.buffer);
  const std::string key = b.scope == Scope::kPersistent ? "persistent " + b.key : f_.name + " " + name;
  DefineMemory(s.buffer, ScratchLines(b, key));
}

void CFunction::DefineMemory(const Buffer& buffer, const std::string& raw) {
  const std::string element = CMemory(buffer->element), name = names_.Get(buffer.get(), buffer->name);
  Line(element + "* " + dialect_.Restrict() + "const " + name + " = (" + element + "*)" + raw + ";");
}

void CFunction::LaunchLines(const StmtNode&) { Refuse("a launch: it has no device; build for opencl or cuda"); }

// The loop's body as a function of a range of iterations.
std::string CFunction::Outline(const StmtNode& s, const std::string& name) {
  frames_.emplace_back();
  std::string saved;
  std::swap(saved, out_);
  const int indent = indent_;
  indent_ = 4;
  const std::string c = CElement(s.var->type), i = Define(s.var), step = names_.Fresh(i + "_step");
  ranges_.Count(s);
  Line("const " + c + " " + i + " = (" + c + ")(captured->first + " + step + ");");
  Lines(s.body);
  if (!frames_.back().mentioned.count(s.var.get())) Line("(void)" + i + ";");
  std::swap(saved, out_);
  indent_ = indent;
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  std::string fields, locals, values;
  for (const auto& [type, field] : frame.captured) {
    const bool pointer = type.find('*') != std::string::npos;
    fields += "  " + (pointer ? type.substr(0, type.find('*') + 1) + " " : type) + field + ";\n";
    locals += "  " + (pointer ? type + "const " : "const " + type) + field + " = captured->" + field + ";\n";
    values += ", " + field;
  }
  if (frame.uses_host) locals = "  const KpHost* const host = captured->host;\n" + locals;
  outlined_ += "\nstruct " + name + " {\n  const KpHost* host;\n  " + c + " first;\n" + fields + "};\n\nstatic int " +
               name + "_run(void* context, int64_t begin, int64_t end) {\n  const struct " + name +
               "* const captured = (const struct " + name + "*)context;\n" + locals + "  for (int64_t " + step +
               " = begin; " + step + " < end; ++" + step + ") {\n" + saved + "  }\n  return 0;\n}\n";
  return values;
}

void CFunction::Parallel(const StmtNode& s) {
  const std::string first = Bare(E(s.args[0])), last = Bare(E(s.args[1])), c = CElement(s.var->type);
  const std::string name = FreshFunction(f_.name + "_" + s.var->name);
  const std::string from = names_.Fresh(s.var->name + "_first"), to = names_.Fresh(s.var->name + "_last"),
                    captured = names_.Fresh(s.var->name + "_captured");
  const std::string values = Outline(s, name), host = Host();
  Line("const " + c + " " + from + " = " + first + ", " + to + " = " + last + ";");
  Line("if (" + from + " < " + to + ") {");
  Line("  struct " + name + " " + captured + " = {" + host + ", " + from + values + "};");
  Line("  if (KP_SERVICE(host, parallel_for)(host, (int64_t)" + to + " - " + from + ", " +
       std::to_string(std::max(s.lanes, 1)) + ", " + name + "_run, &" + captured + ")) return -1;");
  Line("}");
}

void CFunction::CallLines(const StmtNode& s) {
  const FuncNode* callee = module_.Find(s.name);
  std::unordered_map<const VarNode*, Expr> meaning;
  std::vector<std::string> args = FirstArguments();
  args.push_back(Host());
  std::vector<Buffer> given(callee->params.size());
  size_t next_buffer = 0, next_scalar = 0;
  for (size_t i = 0; i < callee->params.size(); ++i) {
    const Param& p = callee->params[i];
    if (p.buffer) {
      given[i] = s.buffers[next_buffer++];
      args.push_back(Name(given[i]));
    } else {
      meaning[p.var.get()] = s.args[next_scalar];
      args.push_back(E(s.args[next_scalar++]));
    }
  }
  for (const DimBinder& binder : FindBinders(*callee)) {
    const Expr extent = Cast(kI64, given[binder.param]->shape[binder.axis]);
    meaning[binder.var.get()] = extent;
    args.push_back(E(extent));
  }
  for (size_t i = 0; i < callee->params.size(); ++i) {
    if (!given[i]) continue;
    for (size_t d = 0; d < given[i]->shape.size(); ++d) {
      const std::string wanted = E(Substitute(Cast(kI64, callee->params[i].buffer->shape[d]), meaning));
      const std::string got = E(Cast(kI64, given[i]->shape[d]));
      if (wanted == got) continue;
      Line("if (kp_check_extent(host, " + CString(callee->name) + ", " + CString(callee->params[i].name()) + ", " +
           std::to_string(d) + ", " + got + ", " + wanted + ")) return -1;");
    }
  }
  Line("if (" + FormatCall(functions_.Get(callee, callee->name), args) + ") return -1;");
}

}  // namespace kernpack::sdk::ir
