// Cores: Intel's and AMD's product pages (ark.intel.com, amd.com). Processors: LLVM's names of their micro-architectures.
#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kX86Tags[] = {
    {"amd/epyc-7601", "llvm -mcpu=znver1 -num-cores=32"},
    {"amd/epyc-7742", "llvm -mcpu=znver2 -num-cores=64"},
    {"amd/epyc-7763", "llvm -mcpu=znver3 -num-cores=64"},
    {"amd/epyc-9654", "llvm -mcpu=znver4 -num-cores=96"},
    {"amd/epyc-9755", "llvm -mcpu=znver5 -num-cores=128"},
    {"amd/ryzen-9-3950x", "llvm -mcpu=znver2 -num-cores=16"},
    {"amd/ryzen-9-5950x", "llvm -mcpu=znver3 -num-cores=16"},
    {"amd/ryzen-9-7950x", "llvm -mcpu=znver4 -num-cores=16"},
    {"amd/ryzen-9-9950x", "llvm -mcpu=znver5 -num-cores=16"},
    {"intel/core-i7-4790k", "llvm -mcpu=haswell -num-cores=4"},
    {"intel/core-i7-6700k", "llvm -mcpu=skylake -num-cores=4"},
    {"intel/core-i9-9900k", "llvm -mcpu=skylake -num-cores=8"},
    {"intel/core-i9-11900k", "llvm -mcpu=rocketlake -num-cores=8"},
    {"intel/core-i9-12900k", "llvm -mcpu=alderlake -num-cores=16"},
    {"intel/core-i9-13900k", "llvm -mcpu=raptorlake -num-cores=24"},
    {"intel/xeon-e5-2699-v4", "llvm -mcpu=broadwell -num-cores=22"},
    {"intel/xeon-platinum-8180", "llvm -mcpu=skylake-avx512 -num-cores=28"},
    {"intel/xeon-platinum-8280", "llvm -mcpu=cascadelake -num-cores=28"},
    {"intel/xeon-platinum-8380", "llvm -mcpu=icelake-server -num-cores=40"},
    {"intel/xeon-platinum-8480+", "llvm -mcpu=sapphirerapids -num-cores=56"},
    {"intel/xeon-platinum-8592+", "llvm -mcpu=emeraldrapids -num-cores=64"},
    {"intel/xeon-6980p", "llvm -mcpu=graniterapids -num-cores=128"},
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
