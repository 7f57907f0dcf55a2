// torch's allocator of CPU memory: ns for one allocation and its release.
#include <c10/core/CPUAllocator.h>

#include <chrono>

extern "C" double torch_allocate(long long bytes, long long calls) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  const auto start = std::chrono::steady_clock::now();
  for (long long i = 0; i < calls; ++i) {
    const c10::DataPtr memory = allocator->allocate(static_cast<size_t>(bytes));
    asm volatile("" : : "r"(memory.get()) : "memory");
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(calls);
}
