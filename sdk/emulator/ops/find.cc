// Rows by name, of the tables that fit this processor.
#include <array>
#include <atomic>
#include <string_view>
#include <unordered_map>

#include <kernpack/foreign/cpu_level.h>

#include "ops/table.h"

namespace kernpack::emulator {
namespace {

using Rows = std::unordered_map<std::string_view, const Row*>;
constexpr int kLevels = KP_HOST_LEVELS;  // of x86-64: base, v3, v4; or base alone

// The greatest level that this processor has.
int Greatest() {
#if KP_HOST_LEVELS == 3
  // Not __builtin_cpu_supports: clang's of "x86-64-v3" is always false where zig's library takes the place of its own.
  const int level = kernpack::detail::cpu_level();
  if (level >= 3) return level - 1;
#endif
  return 1;
}

std::atomic<int> g_wanted{0};

HostCode CodeOfLevel(int level) {
#if KP_HOST_LEVELS == 3
  if (level == 3) return CodeV4();
  if (level == 2) return CodeV3();
#endif
  static_cast<void>(level);
  return CodeBase();
}

Rows RowsOfLevel(int level) {
  Rows made;
  for (const Table* table = CodeOfLevel(level).tables; table->count != 0; ++table) {
    for (uint32_t i = 0; i < table->count; ++i) made.emplace(table->rows[i].name, &table->rows[i]);
  }
  return made;
}

std::array<Rows, kLevels> RowsOfLevels() {
  std::array<Rows, kLevels> made;
  for (int level = 1; level <= kLevels; ++level) made[static_cast<size_t>(level - 1)] = RowsOfLevel(level);
  return made;
}

}  // namespace

int HostLevel() {
  static const int greatest = Greatest();
  const int wanted = g_wanted.load(std::memory_order_relaxed);
  return wanted > 0 && wanted < greatest ? wanted : greatest;
}

void UseHostLevel(int level) { g_wanted.store(level, std::memory_order_relaxed); }

const RowCode* HostRows() { return CodeOfLevel(HostLevel()).rows; }

// The first of several rows of a name counts.
const Row* FindRow(const char* name) {
  static const auto* const levels = new std::array<Rows, kLevels>(RowsOfLevels());
  const Rows& rows = (*levels)[static_cast<size_t>(HostLevel() - 1)];
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

const char* RowName(uint32_t index) {
  const Table* table = CodeOfLevel(HostLevel()).tables;
  while (table->count != 0 && index >= table->count) index -= (table++)->count;
  return table->count == 0 ? nullptr : table->rows[index].name;
}

}  // namespace kernpack::emulator
