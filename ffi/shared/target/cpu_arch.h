// Processor architectures whose features are known. Compiled into the host, which knows those that it runs on, and into the SDK,
// which knows also those that it generates code for.
#ifndef KERNPACK_SHARED_TARGET_CPU_ARCH_H_
#define KERNPACK_SHARED_TARGET_CPU_ARCH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kernpack::host {

// A set of features of one architecture, by their place in its table.
class CpuFeatures {
 public:
  static constexpr size_t kMost = 128;

  constexpr void Add(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  constexpr bool Has(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  constexpr CpuFeatures& operator|=(const CpuFeatures& other) {
    for (size_t i = 0; i < 2; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr CpuFeatures operator&(const CpuFeatures& other) const {
    CpuFeatures out = *this;
    for (size_t i = 0; i < 2; ++i) out.words_[i] &= other.words_[i];
    return out;
  }
  constexpr CpuFeatures Without(const CpuFeatures& other) const {
    CpuFeatures out = *this;
    for (size_t i = 0; i < 2; ++i) out.words_[i] &= ~other.words_[i];
    return out;
  }
  constexpr bool Contains(const CpuFeatures& other) const { return other.Without(*this).Empty(); }
  constexpr bool Empty() const { return words_[0] == 0 && words_[1] == 0; }
  constexpr int Count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }
  constexpr bool operator==(const CpuFeatures&) const = default;

 private:
  uint64_t words_[2] = {0, 0};
};

struct CpuEntry;

struct CpuArch {
  std::string_view name;
  std::span<const CpuEntry> features;
  std::span<const CpuEntry> models;

  const CpuEntry* FindFeature(std::string_view feature) const;  // NULL: not known
  const CpuEntry* FindModel(std::string_view model) const;
  // Names in the table's order, between spaces.
  std::string Names(const CpuFeatures& set) const;
};

// By name; NULL: not known.
const CpuArch* FindCpuArch(std::string_view name);
// The one of a triple ("aarch64-linux-gnu", also arm64, amd64, thumb...); NULL: none that we know.
const CpuArch* CpuArchOfTriple(std::string_view triple);
// The first that knows the model, in the order of CpuArchs(); NULL: none does.
const CpuArch* CpuArchOfModel(std::string_view model);

// Those of hosts.
extern const CpuArch kX86Cpu;
extern const CpuArch kArm64Cpu;
#if defined(__aarch64__)
inline constexpr const CpuArch* kHostCpuArchs[] = {&kArm64Cpu, &kX86Cpu};  // this processor's own first
#else
inline constexpr const CpuArch* kHostCpuArchs[] = {&kX86Cpu, &kArm64Cpu};
#endif

// Those that are known. Host and SDK each define it (known.cc).
std::span<const CpuArch* const> CpuArchs();

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_CPU_ARCH_H_
