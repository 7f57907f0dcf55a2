// Cores and processors: the makers' product pages (Ampere, Apple, AWS, Fujitsu, Nordic, NVIDIA, Raspberry Pi, ST) and Arm's
// reference manuals.
#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kArmTags[] = {
    {"apple/m1", "llvm -mcpu=apple-m1 -mtriple=arm64-apple-macosx -num-cores=8"},
    {"apple/m2", "llvm -mcpu=apple-m2 -mtriple=arm64-apple-macosx -num-cores=8"},
    {"apple/m3", "llvm -mcpu=apple-m3 -mtriple=arm64-apple-macosx -num-cores=8"},
    {"ampere/altra-q80", "llvm -mcpu=neoverse-n1 -mtriple=aarch64-linux-gnu -num-cores=80"},
    {"ampere/altra-max-m128", "llvm -mcpu=neoverse-n1 -mtriple=aarch64-linux-gnu -num-cores=128"},
    {"aws/graviton2", "llvm -mcpu=neoverse-n1 -mtriple=aarch64-linux-gnu -num-cores=64"},
    {"aws/graviton3", "llvm -mcpu=neoverse-v1 -mtriple=aarch64-linux-gnu -num-cores=64"},
    {"aws/graviton4", "llvm -mcpu=neoverse-v2 -mtriple=aarch64-linux-gnu -num-cores=96"},
    {"fujitsu/a64fx", "llvm -mcpu=a64fx -mtriple=aarch64-linux-gnu -num-cores=48"},
    {"nvidia/grace", "llvm -mcpu=neoverse-v2 -mtriple=aarch64-linux-gnu -num-cores=72"},
    {"raspberry-pi/3b", "llvm -mcpu=cortex-a53 -mtriple=aarch64-linux-gnu -num-cores=4"},
    {"raspberry-pi/4b", "llvm -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -num-cores=4"},
    {"raspberry-pi/5", "llvm -mcpu=cortex-a76 -mtriple=aarch64-linux-gnu -num-cores=4"},
    {"nordic/nrf52840", "c -mcpu=cortex-m4"},
    {"nordic/nrf5340", "c -mcpu=cortex-m33"},
    {"raspberry-pi/pico", "c -mcpu=cortex-m0plus"},
    {"st/stm32f746", "c -mcpu=cortex-m7"},
    {"arm/corstone-300", "c -mcpu=cortex-m55"},
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
