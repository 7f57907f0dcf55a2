// Tables of processor features and models, worked out by the compiler.
#ifndef KERNPACK_SHARED_TARGET_CPU_TABLE_H_
#define KERNPACK_SHARED_TARGET_CPU_TABLE_H_

#include <array>
#include <span>
#include <string_view>

#include "shared/target/cpu_arch.h"

namespace kernpack::host {

// A name and the names, declared earlier, that it brings; "~name": unless that is switched off by name.
struct CpuRow {
  std::string_view name;
  std::string_view brings;
};

// A row of the table.
struct CpuEntry {
  std::string_view name;
  CpuFeatures has;       // of a feature: itself and all it brings
  CpuFeatures needs;  // as has, without what may be switched off
};

template <size_t kFeatureCount, size_t kModelCount>
struct CpuTable {
  static_assert(kFeatureCount <= CpuFeatures::kMost);
  std::array<CpuEntry, kFeatureCount> features{};
  std::array<CpuEntry, kModelCount> models{};

  constexpr CpuArch View(std::string_view name) const { return {name, features, models}; }
};

namespace cpu_table_detail {

// Not a constant expression, hence an error of the compiler, where a row names what no earlier row declares.
template <size_t kCount>
constexpr const CpuEntry* Find(const std::array<CpuEntry, kCount>& entries, size_t declared, std::string_view name) {
  for (size_t i = 0; i < declared; ++i) {
    if (entries[i].name == name) return &entries[i];
  }
  return nullptr;
}

}  // namespace cpu_table_detail

template <size_t kFeatureCount, size_t kModelCount>
consteval CpuTable<kFeatureCount, kModelCount> MakeCpuTable(const CpuRow (&features)[kFeatureCount],
                                                            const CpuRow (&models)[kModelCount]) {
  CpuTable<kFeatureCount, kModelCount> table;
  const auto fill = [&](CpuEntry& entry, const CpuRow& row, size_t declared_features, size_t declared_models) {
    entry.name = row.name;
    std::string_view rest = row.brings;
    while (!rest.empty()) {
      std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(word.size() + (word.size() < rest.size() ? 1 : 0));
      const bool soft = word[0] == '~';
      if (soft) word.remove_prefix(1);
      const CpuEntry* found = cpu_table_detail::Find(table.features, declared_features, word);
      if (!found) found = cpu_table_detail::Find(table.models, declared_models, word);
      entry.has |= found->has;
      if (!soft) entry.needs |= found->needs;
    }
  };
  for (size_t i = 0; i < kFeatureCount; ++i) {
    fill(table.features[i], features[i], i, 0);
    table.features[i].has.Add(i);
    table.features[i].needs.Add(i);
  }
  for (size_t i = 0; i < kModelCount; ++i) fill(table.models[i], models[i], kFeatureCount, i);
  return table;
}

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_CPU_TABLE_H_
