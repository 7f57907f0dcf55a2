#include "modules/unrelocated.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace kernpack::host {
namespace {

uintptr_t AddressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

}  // namespace

std::unique_ptr<const UnrelocatedTable> UnrelocatedTable::Make(const KpModule& module, void* handle,
                                                               const char* where) {
  platform::Mapping mapping;
  if (!handle || !platform::FindMapping(handle, &mapping)) {
    kp_raise("ImportError",
             "kernpack.load: '%s' has a function table without relocations, which only a shared object on Linux can "
             "have; build the module without MANY_FUNCTIONS",
             where);
    return nullptr;
  }
  const uintptr_t linked = AddressOf(LinkedAt(module));
  if (AddressOf(&module) - mapping.base != linked) {
    kp_raise("ImportError",
             "kernpack.load: '%s' says that its module table was linked at address 0x%zx, but it was linked at 0x%zx; "
             "the file was changed after it was linked: build it again",
             where, static_cast<size_t>(linked), static_cast<size_t>(AddressOf(&module) - mapping.base));
    return nullptr;
  }
  const auto size = static_cast<size_t>(module.functions_end - module.functions);
  std::unique_ptr<const UnrelocatedTable> table(
      new UnrelocatedTable(module.functions, size, where, std::move(mapping)));
  const auto* begin = reinterpret_cast<const void*>(AddressOf(module.functions) - table->mapping_.base);  // NOLINT
  if (size != 0 && table->BytesAt(begin).size() / sizeof(KpFunctionDef) < size) {
    static_cast<void>(table->RaiseOutside("KpModule", "functions"));
    return nullptr;
  }
  return table;
}

UnrelocatedTable::~UnrelocatedTable() {
  for (RelocatedLine* line = read_.load(); line != nullptr;) delete std::exchange(line, line->next);
}

std::string_view UnrelocatedTable::BytesAt(const void* linked, bool code) const {
  const uintptr_t address = AddressOf(linked);
  for (const platform::Mapping::Range& range : mapping_.ranges) {
    if (address < range.begin || address >= range.end || (code && !range.executable)) continue;
    const auto* bytes = reinterpret_cast<const char*>(mapping_.base + address);  // NOLINT(*-no-int-to-ptr)
    return {bytes, range.end - address};
  }
  return {};
}

bool UnrelocatedTable::PlaceText(const char** text) const {
  if (*text == nullptr) return true;
  const std::string_view bytes = BytesAt(*text);
  if (bytes.empty() || std::memchr(bytes.data(), 0, bytes.size()) == nullptr) return false;
  *text = bytes.data();
  return true;
}

int UnrelocatedTable::Compare(size_t line, std::string_view name) const {
  const std::string_view own = BytesAt(lines_[line].name).substr(0, name.size() + 1);
  if (own.empty()) return -1;
  const int order = own.substr(0, name.size()).compare(name);
  return order == 0 && own.back() != 0 ? 1 : order;
}

std::pair<size_t, size_t> UnrelocatedTable::Find(std::string_view name) const {
  size_t begin = 0;
  for (size_t end = size_; begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    if (Compare(middle, name) < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  size_t end = begin;
  while (end < size_ && Compare(end, name) == 0) ++end;
  return {begin, end};
}

int UnrelocatedTable::RaiseOutside(const char* name, const char* field) const {
  return kp_raise("ImportError",
                  "kernpack.load: '%s': %s.%s is an address outside of the file; the function table is damaged: build "
                  "the module again",
                  where_, name, field);
}

int UnrelocatedTable::ReadInfo(const char* name, const KpFunctionInfo* linked, KpFunctionInfo* out) const {
  const std::string_view bytes = BytesAt(linked);
  uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || bytes.size() < size) return RaiseOutside(name, "info");
  out->struct_size = size;
  if (size < KP_FUNCTION_INFO_SIZE_V1) return 0;  // CheckEntry refuses it
  std::memcpy(static_cast<void*>(out), bytes.data(), std::min<size_t>(size, sizeof *out));
  out->struct_size = std::min<uint32_t>(size, sizeof *out);
  const std::pair<const char*, const char**> texts[] = {{"target", &out->target},
                                                        {"signature", &out->signature},
                                                        {"doc", &out->doc},
                                                        {"cxx_types", &out->cxx_types},
                                                        {"attributes", &out->attributes}};
  for (const auto& [field, text] : texts) {
    if (!PlaceText(text)) return RaiseOutside(name, field);
  }
  if (out->program != nullptr) {
    const std::string_view words = BytesAt(out->program);
    if (words.empty() || words.size() / sizeof(uint32_t) < out->program_words || AddressOf(words.data()) % 4 != 0) {
      return RaiseOutside(name, "program");
    }
    out->program = reinterpret_cast<const uint32_t*>(words.data());
  }
  return 0;
}

int UnrelocatedTable::ReadInto(size_t line, RelocatedLine* out) const {
  out->definition = lines_[line];
  out->info = KpFunctionInfo{};
  out->next = nullptr;
  KpFunctionDef& definition = out->definition;
  if (!PlaceText(&definition.name)) {
    return RaiseOutside(("line " + std::to_string(line)).c_str(), "name");
  }
  const char* name = definition.name ? definition.name : "(null)";
  if (definition.call != nullptr) {
    const std::string_view code = BytesAt(reinterpret_cast<const void*>(definition.call), true);
    if (code.empty()) return RaiseOutside(name, "call");
    definition.call = reinterpret_cast<KpSafeCall>(reinterpret_cast<uintptr_t>(code.data()));  // NOLINT
  }
  if (definition.info != nullptr) {
    if (ReadInfo(name, definition.info, &out->info) != 0) return -1;
    definition.info = &out->info;
  }
  return 0;
}

const KpFunctionDef* UnrelocatedTable::Read(size_t line) const {
  auto made = std::make_unique<RelocatedLine>();
  if (ReadInto(line, made.get()) != 0) return nullptr;
  made->next = read_.load(std::memory_order_relaxed);
  while (!read_.compare_exchange_weak(made->next, made.get(), std::memory_order_release)) {
  }
  return &made.release()->definition;
}

int UnrelocatedTable::ReadAll(std::vector<RelocatedLine>* out) const {
  out->resize(size_);
  for (size_t line = 0; line < size_; ++line) {
    if (ReadInto(line, &(*out)[line]) != 0) return -1;
    const char* name = (*out)[line].definition.name;
    const char* before = line == 0 ? nullptr : (*out)[line - 1].definition.name;
    if (name == nullptr || before == nullptr || std::strcmp(before, name) <= 0) continue;
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s': %s stands behind %s in the function table, whose lines must be in the order of "
        "their names; the table is damaged: build the module again",
        where_, name, before);
  }
  return 0;
}

}  // namespace kernpack::host
