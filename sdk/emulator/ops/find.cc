// Rows by name, of the tables that fit this processor.
#include <string_view>
#include <unordered_map>

#include "ops/table.h"

namespace kernpack::emulator {
namespace {

const Table* Fitting() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4") != 0) return TablesV4();
  if (__builtin_cpu_supports("x86-64-v3") != 0) return TablesV3();
#endif
  return TablesBase();
}

}  // namespace

// The first of several rows of a name counts.
const Row* FindRow(const char* name) {
  static const auto* const rows = [] {
    auto* made = new std::unordered_map<std::string_view, const Row*>();
    for (const Table* table = Fitting(); table->count != 0; ++table) {
      for (uint32_t i = 0; i < table->count; ++i) made->emplace(table->rows[i].name, &table->rows[i]);
    }
    return made;
  }();
  const auto found = rows->find(name);
  return found == rows->end() ? nullptr : found->second;
}

const char* RowName(uint32_t index) {
  const Table* table = Fitting();
  while (table->count != 0 && index >= table->count) index -= (table++)->count;
  return table->count == 0 ? nullptr : table->rows[index].name;
}

}  // namespace kernpack::emulator
