// Architectures: NVIDIA's list of GPUs and their compute capability (developer.nvidia.com/cuda-gpus). Shared memory a block (the
// most a kernel may opt in to) and registers: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
// L2 caches and hosts: NVIDIA's data sheets and architecture white papers; left out where we found none.
#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kNvidiaTags[] = {
    {"nvidia/a10",
     "cuda -arch=sm_86 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/a100",
     "cuda -arch=sm_80 -l2_cache_size_bytes=41943040 -max_shared_memory_per_block=166912 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/a2",
     "cuda -arch=sm_86 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 -registers_per_block=65536"},
    {"nvidia/a30",
     "cuda -arch=sm_80 -l2_cache_size_bytes=25165824 -max_shared_memory_per_block=166912 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/a40",
     "cuda -arch=sm_86 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/b200",
     "cuda -arch=sm_100 -max_shared_memory_per_block=232448 -max_threads_per_block=1024 -registers_per_block=65536"},
    {"nvidia/b300",
     "cuda -arch=sm_103 -max_shared_memory_per_block=232448 -max_threads_per_block=1024 -registers_per_block=65536"},
    {"nvidia/geforce-rtx-2060",
     "cuda -arch=sm_75 -l2_cache_size_bytes=3145728 -max_shared_memory_per_block=65536 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-2070",
     "cuda -arch=sm_75 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=65536 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-2080",
     "cuda -arch=sm_75 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=65536 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-2080-ti",
     "cuda -arch=sm_75 -l2_cache_size_bytes=5767168 -max_shared_memory_per_block=65536 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-3060",
     "cuda -arch=sm_86 -l2_cache_size_bytes=3145728 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-3070",
     "cuda -arch=sm_86 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-3080",
     "cuda -arch=sm_86 -l2_cache_size_bytes=5242880 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-3090",
     "cuda -arch=sm_86 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-4060",
     "cuda -arch=sm_89 -l2_cache_size_bytes=25165824 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-4070",
     "cuda -arch=sm_89 -l2_cache_size_bytes=37748736 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-4080",
     "cuda -arch=sm_89 -l2_cache_size_bytes=67108864 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-4090",
     "cuda -arch=sm_89 -l2_cache_size_bytes=75497472 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-5080",
     "cuda -arch=sm_120 -l2_cache_size_bytes=67108864 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/geforce-rtx-5090",
     "cuda -arch=sm_120 -l2_cache_size_bytes=100663296 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/gh200",
     "cuda -arch=sm_90 -l2_cache_size_bytes=52428800 -max_shared_memory_per_block=232448 -max_threads_per_block=1024 "
     "-registers_per_block=65536 -host='llvm -mcpu=neoverse-v2 -num-cores=72'"},
    {"nvidia/h100",
     "cuda -arch=sm_90 -l2_cache_size_bytes=52428800 -max_shared_memory_per_block=232448 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/h200",
     "cuda -arch=sm_90 -l2_cache_size_bytes=52428800 -max_shared_memory_per_block=232448 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/jetson-agx-orin",
     "cuda -arch=sm_87 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=166912 -max_threads_per_block=1024 "
     "-registers_per_block=65536 -host='llvm -mcpu=cortex-a78 -num-cores=12'"},
    {"nvidia/jetson-agx-xavier",
     "cuda -arch=sm_72 -l2_cache_size_bytes=524288 -max_shared_memory_per_block=98304 -max_threads_per_block=1024 "
     "-registers_per_block=65536 -host='llvm -mtriple=aarch64-linux-gnu -num-cores=8'"},
    {"nvidia/l4",
     "cuda -arch=sm_89 -l2_cache_size_bytes=50331648 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/l40",
     "cuda -arch=sm_89 -l2_cache_size_bytes=100663296 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/l40s",
     "cuda -arch=sm_89 -l2_cache_size_bytes=100663296 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/rtx-6000-ada",
     "cuda -arch=sm_89 -l2_cache_size_bytes=100663296 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/rtx-a4000",
     "cuda -arch=sm_86 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/rtx-a5000",
     "cuda -arch=sm_86 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/rtx-a6000",
     "cuda -arch=sm_86 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=101376 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/t4",
     "cuda -arch=sm_75 -l2_cache_size_bytes=4194304 -max_shared_memory_per_block=65536 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {"nvidia/v100",
     "cuda -arch=sm_70 -l2_cache_size_bytes=6291456 -max_shared_memory_per_block=98304 -max_threads_per_block=1024 "
     "-registers_per_block=65536"},
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
