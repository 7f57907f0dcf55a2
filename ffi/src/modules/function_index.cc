#include "modules/function_index.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "modules/check.h"
#include "modules/gradients.h"

namespace kernpack::host {
namespace {

// Files with code for several targets declare one derivative each: all but the first are dropped.
void DropKnown(std::vector<FunctionIndex::Link>* links, size_t known) {
  const auto first = links->begin(), own = first + static_cast<std::ptrdiff_t>(known);
  const auto is_known = [&](const FunctionIndex::Link& link) {
    return std::any_of(first, own, [&](const FunctionIndex::Link& other) {
      return std::strcmp(link.first, other.first) == 0 && std::strcmp(link.second, other.second) == 0;
    });
  };
  links->erase(std::remove_if(own, links->end(), is_known), links->end());
}

}  // namespace

std::unique_ptr<const FunctionIndex> FunctionIndex::Make(const std::vector<Part>& parts) {
  std::unique_ptr<FunctionIndex> index(new FunctionIndex(parts));
  return index->Fill() == 0 ? std::move(index) : nullptr;
}

int FunctionIndex::Fill() {
  size_t most = 0;
  for (const Part& part : parts_) most += part.functions.size();
  if (ReadUnrelocated() != 0) return -1;
  if (most >= NameIndex::kNone)
    return kp_raise("ImportError", "kernpack.load: '%s' has too many functions", parts_[0].path);
  names_ = NameIndex(most);
  first_.reserve(most);
  uint32_t number = 0;
  for (const Part& part : parts_) {
    const size_t known_gradients = gradients.size(), known_jvps = jvps.size();
    for (size_t line = 0; line < part.functions.size(); ++line, ++number) {
      if (Add(At(number), number) != 0) return -1;
    }
    DropKnown(&gradients, known_gradients);
    DropKnown(&jvps, known_jvps);
  }
  return CheckFunctions() != 0 || CheckGradients(*this, parts_[0].path) != 0 || CheckJvps(*this, parts_[0].path) != 0
             ? -1
             : 0;
}

int FunctionIndex::ReadUnrelocated() {
  relocated_.resize(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].unrelocated && parts_[i].unrelocated->ReadAll(&relocated_[i]) != 0) return -1;
  }
  return 0;
}

int FunctionIndex::Add(const Entry& entry, uint32_t number) {
  if (CheckEntry(entry) != 0) return -1;
  const KpFunctionDef& definition = *entry.definition;
  if (const uint32_t kind = entry.info().kind; kind != KP_DEF_FUNCTION) {
    (kind == KP_DEF_GRADIENT ? gradients : jvps).emplace_back(definition.name, definition.info->target);
    return 0;
  }
  uint32_t last = names_.FindOrAdd(definition.name, number, [this](uint32_t of) { return At(of).definition->name; });
  if (last == NameIndex::kNone) {
    first_.push_back(number);
    return 0;
  }
  if (next_.empty()) next_.assign(names_.room(), NameIndex::kNone);
  while (next_[last] != NameIndex::kNone) last = next_[last];
  next_[last] = number;
  return 0;
}

int FunctionIndex::CheckFunctions() const {
  for (const uint32_t first : first_) {
    const bool alone = next_.empty() || next_[first] == NameIndex::kNone;
    if (alone && At(first).info().target == nullptr) continue;
    if (CheckVariants(ChainFrom(first)) != 0) return -1;
  }
  return 0;
}

Entry FunctionIndex::At(uint32_t number) const {
  const Part* part = parts_.data();
  while (number >= part->functions.size()) number -= static_cast<uint32_t>((part++)->functions.size());
  const std::vector<RelocatedLine>& lines = relocated_[static_cast<size_t>(part - parts_.data())];
  return {part, part->unrelocated ? &lines[number].definition : &part->functions[number]};
}

std::vector<Entry> FunctionIndex::ChainFrom(uint32_t number) const {
  std::vector<Entry> entries{At(number)};
  while (!next_.empty() && (number = next_[number]) != NameIndex::kNone) entries.push_back(At(number));
  return entries;
}

std::vector<Entry> FunctionIndex::Find(std::string_view name) const {
  const uint32_t first = names_.Find(name, [this](uint32_t number) { return At(number).definition->name; });
  return first == NameIndex::kNone ? std::vector<Entry>() : ChainFrom(first);
}

const char* FunctionIndex::NameInOrder(size_t index) const {
  const std::lock_guard lock(ModulesMutex());
  if (by_name_.empty()) {
    by_name_ = first_;
    std::sort(by_name_.begin(), by_name_.end(), [this](uint32_t a, uint32_t b) {
      return std::strcmp(At(a).definition->name, At(b).definition->name) < 0;
    });
  }
  return At(by_name_[index]).definition->name;
}

size_t FunctionIndex::CountSignatures() const {
  return static_cast<size_t>(std::count_if(first_.begin(), first_.end(),
                                           [this](uint32_t number) { return At(number).info().signature != nullptr; }));
}

std::vector<std::string_view> FunctionIndex::GetSignedNames() const {
  std::vector<std::string_view> names;
  for (const uint32_t number : first_) {
    const Entry entry = At(number);
    if (entry.info().signature) names.emplace_back(entry.definition->name);
  }
  return names;
}

}  // namespace kernpack::host
