// Functions, their registers, variables and labels.
#include <algorithm>
#include <set>

#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

constexpr size_t kMostInstructions = 4 << 20;
constexpr int kMostCalls = 64;

uint64_t Aligned(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

bool HasGroups(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function& function) { return function.names_wgmma; });
}

}  // namespace

Mnemonic::Mnemonic(std::string_view op) {
  constexpr size_t kUsual = 8;
  parts_.reserve(kUsual);
  for (size_t begin = 0;;) {
    const size_t dot = op.find('.', begin);
    parts_.push_back(op.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return;
    begin = dot + 1;
  }
}

bool Mnemonic::Has(std::string_view modifier) const {
  return std::find(parts_.begin() + 1, parts_.end(), modifier) != parts_.end();
}

bool Mnemonic::Take(std::string_view modifier) {
  const auto found = std::find(parts_.begin() + 1, parts_.end(), modifier);
  if (found == parts_.end()) return false;
  parts_.erase(found);
  return true;
}

std::string Mnemonic::Joined() const {
  std::string out;
  for (const std::string_view part : parts_) out += (out.empty() ? "" : ".") + std::string(part);
  return out;
}

void Decoder::Refuse(const std::string& what) const { throw PtxError(statement_->line, statement_->op + " " + what); }

const Function* Decoder::FindFunction(const std::string& name) const {
  const Function* found = nullptr;
  for (const Function& function : module_.functions) {
    if (function.name == name && (found == nullptr || function.defined)) found = &function;
  }
  return found;
}

// Parameters of a kernel lie one behind the other, each at a multiple of its alignment.
void Decoder::Parameters(const Function& entry) {
  uint64_t offset = 0;
  for (const Variable& parameter : entry.parameters) {
    offset = Aligned(offset, parameter.align);
    program_.parameters.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(parameter.bytes)});
    frame_->names[parameter.name] = {Space::kParam, offset};
    offset += parameter.bytes;
  }
  if (offset > 32764)
    throw PtxError(entry.line, "the kernel " + entry.name + " has more than 32764 bytes of parameters");
  program_.parameter_bytes = static_cast<uint32_t>(offset);
}

// Shared variables that the kernel, or what it calls, names; those whose size the launch gives lie behind all others.
void Decoder::PlaceShared(const Function& function, int depth) {
  std::set<std::string> named;
  const auto note = [&](const auto& self, const Operand& operand) -> void {
    if (!operand.name.empty()) named.insert(operand.name);
    for (const Operand& element : operand.elements) self(self, element);
  };
  for (const Statement& statement : function.body) {
    for (const Operand& operand : statement.operands) note(note, operand);
  }
  const auto place = [&](const Variable& variable, const std::string& key) {
    if (variable.space != Space::kShared || variable.bytes == 0 || shared_.count(key) != 0) return;
    const uint64_t at = Aligned(program_.shared_bytes, variable.align);
    shared_[key] = at;
    program_.shared_bytes = static_cast<uint32_t>(at + variable.bytes);
  };
  for (const Variable& variable : function.variables) place(variable, function.name + "/" + variable.name);
  for (const Variable& variable : module_.variables) {
    if (named.count(variable.name) == 0) continue;
    place(variable, variable.name);
    if (variable.space == Space::kShared && variable.bytes == 0)
      dynamic_align_ = std::max({dynamic_align_, variable.align, 16U});  // 16: as ptxas
  }
  if (depth > kMostCalls) return;
  for (const std::string& name : named) {
    const Function* callee = FindFunction(name);
    if (callee != nullptr && callee->defined) PlaceShared(*callee, depth + 1);
  }
}

void Decoder::Enter(Frame* frame, const Function& function) {
  int depth = 0;
  for (const Frame* above = frame->caller; above != nullptr; above = above->caller) {
    if (above->function == &function)
      Refuse("calls " + function.name + " from within itself: recursion isn't emulated");
    if (++depth > kMostCalls) Refuse("is a call more than " + std::to_string(kMostCalls) + " levels deep");
  }
  frame->function = &function;
  for (const Register& reg : function.registers) {
    const uint32_t bytes = TypeBytes(reg.type);
    frame->slots.push_back(NewSlot(reg.type == "pred" ? 0 : bytes == 16 ? 16 : bytes == 8 ? 8 : 4));
  }
  for (const Variable& variable : function.variables) {
    if (variable.space == Space::kShared) {
      const auto found = shared_.find(function.name + "/" + variable.name);
      frame->names[variable.name] = {Space::kShared, found == shared_.end() ? ~uint64_t{0} : found->second};
    } else if (variable.space == Space::kLocal || variable.space == Space::kParam) {
      program_.local_bytes = static_cast<uint32_t>(Aligned(program_.local_bytes, std::max(variable.align, 8U)));
      frame->names[variable.name] = {Space::kLocal, program_.local_bytes};
      program_.local_bytes += static_cast<uint32_t>(variable.bytes);
    }
  }
}

uint32_t Decoder::GetLabel(const Frame& frame, const Frame::Jump& jump) const {
  const Function& function = *frame.function;
  for (uint32_t scope = jump.scope;; scope = function.scope_parents[scope]) {
    for (const Label& label : function.labels) {
      if (label.scope == scope && label.name == jump.label) return frame.begins[label.statement];
    }
    if (scope == 0) break;
  }
  throw PtxError(jump.line, "the label '" + jump.label + "' is not in " + function.name);
}

void Decoder::NoteExpected(Frame* frame) {
  const std::vector<Statement>& body = frame->function->body;
  const auto is_register = [](const Statement& statement, size_t operand) {
    return statement.operands.size() > operand && statement.operands[operand].kind == Operand::Kind::kRegister;
  };
  for (const Statement& statement : body) {
    if (statement.op.starts_with("atom") && statement.op.find(".cas.") != std::string::npos &&
        is_register(statement, 2))
      frame->expected.insert(statement.operands[2].reg);
  }
  for (size_t before = 0; before != frame->expected.size();) {
    before = frame->expected.size();
    for (const Statement& statement : body) {
      if (statement.op.starts_with("mov.") && is_register(statement, 0) && is_register(statement, 1) &&
          frame->expected.contains(statement.operands[0].reg)) {
        frame->expected.insert(statement.operands[1].reg);
      }
    }
  }
}

void Decoder::Body(Frame* frame) {
  Frame* const outer = frame_;
  const Statement* const at = statement_;
  frame_ = frame;
  const size_t count = frame->function->body.size();
  frame->begins.reserve(count + 1);
  NoteExpected(frame);
  if (frame->caller == nullptr) {
    program_.code.reserve(count + count / 4);
    program_.sources.reserve(count);
  }
  for (const Statement& statement : frame->function->body) {
    frame->begins.push_back(static_cast<uint32_t>(program_.code.size()));
    OneOrNote(statement);
    if (program_.code.size() > kMostInstructions)
      Refuse("is too far: the kernel has more than 4 Mi instructions with all that it calls");
  }
  frame->begins.push_back(static_cast<uint32_t>(program_.code.size()));
  // The end of the text ends the thread, or the call.
  if (frame->caller == nullptr) {
    Instruction exit;
    exit.flow = Flow::kExit;
    exit.statement = program_.sources.empty() ? 0 : static_cast<uint32_t>(program_.sources.size() - 1);
    program_.code.push_back(exit);
  }
  for (const Frame::Jump& jump : frame->jumps) {
    (jump.in_extra ? program_.extra[jump.instruction] : program_.code[jump.instruction].target) =
        GetLabel(*frame, jump);
  }
  for (const uint32_t jump : frame->returns) program_.code[jump].target = frame->begins.back();
  frame_ = outer;
  statement_ = at;
}

void Decoder::OneOrNote(const Statement& statement) {
  if (refusals_ == nullptr) return One(statement);
  try {
    One(statement);
  } catch (const PtxError& error) {
    refusals_->push_back(error);
  }
}

std::shared_ptr<const std::vector<FileLine>> Decoder::GetInlined(uint32_t index) {
  std::shared_ptr<const std::vector<FileLine>>& out = inlined_[{frame_->function, index}];
  if (out != nullptr) return out;
  std::vector<FileLine> places;
  while (index != 0) {
    const Inlined& inlined = frame_->function->inlined[index];
    const auto file = module_.files.find(inlined.file);
    if (file != module_.files.end()) places.push_back({file->second, inlined.line});
    index = inlined.outer;
  }
  out = std::make_shared<const std::vector<FileLine>>(std::move(places));
  return out;
}

void Decoder::One(const Statement& statement) {
  statement_ = &statement;
  Source source;
  source.line = statement.line;
  source.op = statement.op;
  const auto file = module_.files.find(statement.source_file);
  if (file != module_.files.end()) source.file = file->second, source.file_line = statement.source_line;
  if (statement.inlined != 0) source.inlined_at = GetInlined(statement.inlined);
  program_.sources.push_back(std::move(source));
  NoteNames(statement);
  const Mnemonic mnemonic(statement.op);
  if (Control(mnemonic) || Memory(mnemonic) || Matrix(mnemonic) || TensorMemoryUse(mnemonic) || Moves(mnemonic) ||
      InParts(mnemonic))
    return;
  ByTable(mnemonic);
}

Program Decoder::Decode(const Function& entry) {
  Frame frame;
  frame_ = &frame;
  program_.name = entry.name;
  program_.rows = HostRows();
  PlaceShared(entry, 0);
  program_.shared_bytes = static_cast<uint32_t>(Aligned(program_.shared_bytes, dynamic_align_));
  Parameters(entry);
  Enter(&frame, entry);
  program_.has_groups = HasGroups(module_);
  Body(&frame);
  if (program_.has_groups) NameGroupRegisters();
  frame_ = nullptr;
  program_.register_bytes = static_cast<uint32_t>(Aligned(next_slot_, 64));
  program_.local_bytes = static_cast<uint32_t>(Aligned(program_.local_bytes, 16));
  uint64_t most = 1;
  bool bounded = false;
  for (int i = 0; i < 3; ++i) {
    const uint32_t extent = entry.required_threads[i] != 0 ? entry.required_threads[i] : entry.max_threads[i];
    if (extent != 0) most *= extent, bounded = true;
    program_.required_threads[i] = entry.required_threads[i];
  }
  if (bounded) program_.max_threads = static_cast<uint32_t>(std::min<uint64_t>(most, 1024));
  program_.needs_cluster = entry.explicit_cluster;
  std::copy_n(entry.cluster, 3, program_.cluster);
  return std::move(program_);
}

Program Decode(const Module& module, const Function& entry, const FindVariable& find, std::vector<PtxError>* refusals) {
  return Decoder(module, find, refusals).Decode(entry);
}

}  // namespace kernpack::emulator
