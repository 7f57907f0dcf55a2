// Compilations in threads of their own: as many at once as this process may use processors.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_JOBS_H_
#define KERNPACK_BACKENDS_CUDA_JIT_JOBS_H_

#include <atomic>
#include <functional>
#include <memory>

#include <kernpack/abi.h>

#include "backends/cuda/jit.h"

namespace kernpack::cuda {

// One compilation, which outlives the code that asked for it.
struct JitJob {
  std::shared_ptr<const JitSource> source;
  std::string unit;
  JitTarget target;
  JitTools tools;
  // Written by the job's thread before `done`.
  JitCode code;
  JitError error;
  bool built = false;
  std::atomic<bool> done{false};
  std::atomic<bool> said{false};  // that it failed
};

// Begins it once a processor is free. A process that ends waits for the compilations that have begun: the cache keeps their code, and
// NVRTC can't be torn down under them.
void StartJit(const std::shared_ptr<JitJob>& job);

// Once NVRTC is loaded.
void EndJobsAtExit();

// True once the process ends: a job that still waits for another process gives up.
bool JitEnds();

// -1 with an error raised if the user interrupts; the job goes on.
int WaitForJit(const KpHost* host, const JitJob& job);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_JOBS_H_
