// Reads the features of an aarch64 processor from the words of Linux's auxiliary vector. Header-only, so that tests of any processor see it.
#ifndef KERNPACK_SRC_DEVICES_TARGET_HWCAP_ARM_H_
#define KERNPACK_SRC_DEVICES_TARGET_HWCAP_ARM_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernpack::host {

struct HwcapBit {
  std::string_view feature;  // as LLVM calls it
  bool second;  // of AT_HWCAP2
  int bit;
};

// Linux's arch/arm64/include/uapi/asm/hwcap.h, which is part of its stable interface.
inline constexpr HwcapBit kArmHwcaps[] = {
    {"fp-armv8", false, 0},   {"neon", false, 1},       {"aes", false, 3},      {"sha2", false, 6},
    {"crc", false, 7},        {"lse", false, 8},        {"fullfp16", false, 9}, {"rdm", false, 12},
    {"jsconv", false, 13},    {"complxnum", false, 14}, {"rcpc", false, 15},    {"sha3", false, 17},
    {"sm4", false, 19},       {"dotprod", false, 20},   {"sve", false, 22},     {"fp16fml", false, 23},
    {"dit", false, 24},       {"flagm", false, 27},     {"ssbs", false, 28},    {"sb", false, 29},
    {"pauth", false, 30},     {"ccdp", true, 0},        {"sve2", true, 1},      {"sve2-bitperm", true, 4},
    {"fptoint", true, 8},     {"i8mm", true, 13},       {"bf16", true, 14},     {"rand", true, 16},
    {"bti", true, 17},        {"mte", true, 18},        {"sme", true, 23},      {"sme-i16i64", true, 24},
    {"sme-f64f64", true, 25}, {"cssc", true, 34},       {"sme2", true, 37},
};

// Of AT_HWCAP and AT_HWCAP2, in the order of the table.
inline std::vector<std::string_view> ArmFeatures(uint64_t hwcap, uint64_t hwcap2) {
  std::vector<std::string_view> features;
  for (const HwcapBit& bit : kArmHwcaps) {
    if ((bit.second ? hwcap2 : hwcap) >> bit.bit & 1) features.push_back(bit.feature);
  }
  return features;
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_HWCAP_ARM_H_
