#include "ir/names.h"

#include <kernpack/error.h>

#include <algorithm>
#include <cctype>

namespace kernpack::sdk::ir {
namespace {

constexpr std::string_view kWords[] = {
    "func",       "private",    "where",    "module",     "target",   "signature", "let",     "alloc",  "for",
    "parallel",   "vectorized", "unrolled", "if",         "else",     "assert",    "barrier", "launch", "call",
    "return",     "evaluate",   "in",       "grid",       "block",    "thread",    "shared",  "local",  "workspace",
    "persistent", "zeroed",     "any",      "sequential", "peeled",   "masked",    "true",    "false",  "inf",
    "nan",        "global",     "while",    "break",      "continue",
};

}  // namespace

bool IsIdentifier(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool IsReservedWord(std::string_view name) {
  if (std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)) return true;
  if (name == OpName(Op::kArgMax) || name == OpName(Op::kArgMin)) return false;  // words behind `reduce(` alone
  if (name.substr(0, 4) == "inf_" || name.substr(0, 4) == "nan_") return true;
  Type t;
  if (TypeFromName(name, &t)) return true;
#define KP_IR_NAME_(op, text, cls) text,
  static constexpr std::string_view kOps[] = {KP_IR_OPS(KP_IR_NAME_)};
#undef KP_IR_NAME_
  return std::find(std::begin(kOps), std::end(kOps), name) != std::end(kOps);
}

void CheckFunctionName(const std::string& name) {
  if (!IsIdentifier(name) || IsReservedWord(name))
    KP_THROW(ValueError) << "'" << name << "' isn't a valid function name";
}

std::string Names::Fresh(std::string_view wanted) {
  std::string base = IsIdentifier(wanted) ? std::string(wanted) : "v";
  if (reserved_ && reserved_(base) && reserved_(base + "_1")) base = "v_" + base;  // it is how it begins
  std::string name = base;
  int& number = next_[base];
  while (used_.count(name) || (reserved_ && reserved_(name))) name = base + "_" + std::to_string(++number);
  used_.insert(name);
  return name;
}

const std::string& Names::Define(const void* node, std::string_view wanted) {
  const auto found = spelled_.find(node);
  return found != spelled_.end() ? found->second : spelled_[node] = Fresh(wanted);
}

std::string Names::Get(const void* node, std::string_view otherwise) const {
  const auto found = spelled_.find(node);
  return found != spelled_.end() ? found->second : std::string(otherwise);
}

}  // namespace kernpack::sdk::ir
