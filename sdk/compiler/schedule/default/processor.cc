#include "schedule/default/processor.h"

#include "shared/target_kinds.h"

#include <algorithm>
#include <string_view>

#include "ir/launch_limits.h"

namespace kernpack::sdk::ir {

int Processor::Lanes(int bits) const {
  return static_cast<int>(std::clamp<int64_t>(vector_bytes * 8 / std::max(bits, 8), 2, 32));
}

Processor GetProcessor(const Target& target) {
  Processor m;
  const std::string_view kind = target.kind().name();
  if (host::IsCpuKind(kind)) {
    m.kind = Processor::kCpu;
    const int64_t bits =
        target.GetAttr<int64_t>("vector-width", target.GetFeature<int64_t>("vector_width").value_or(128));
    m.vector_bytes = std::clamp<int64_t>(bits / 8, 16, 64);
    // Masks cost nothing where they have registers of their own.
    m.tail = m.vector_bytes == 64 ? Tail::kMasked : Tail::kPeeled;
    m.multiplies_pairs = kind == host::kLlvmKind && target.GetFeature<std::string>("arch").value_or("") == "x86_64";
    const bool has_bytes = m.vector_bytes == 64 ? target.HasFeature("avx512vnni") && target.HasFeature("avx512vl")
                                                : target.HasFeature("avxvnni");
    m.multiplies_bytes = m.multiplies_pairs && has_bytes;
  } else if (kind == host::kCudaKind || kind == host::kOpenClKind) {
    m.kind = kind == host::kOpenClKind && target.GetAttr<int64_t>("thread_warp_size", 1) <= 1 ? Processor::kItems
                                                                                              : Processor::kGpu;
    m.threads = std::min<int64_t>(target.GetAttr<int64_t>("max_num_threads", 256),
                                  target.GetAttr<int64_t>("max_threads_per_block", 1024));
    m.shared_bytes = GetLimits(target).shared_bytes;
    m.vector_bytes = 32;
  }
  return m;
}

}  // namespace kernpack::sdk::ir
