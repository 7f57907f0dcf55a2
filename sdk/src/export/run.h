// Running a program.
#ifndef KERNPACK_SDK_SRC_EXPORT_RUN_H_
#define KERNPACK_SDK_SRC_EXPORT_RUN_H_

#include <string>
#include <vector>

namespace kernpack::sdk {

struct RunResult {
  int status = 0;  // 0: it succeeded; 128 + n: signal n ended it
  std::string output;  // what it wrote, both streams
};

// Without a shell and without input. OSError when it cannot be started. Any thread.
RunResult Run(const std::vector<std::string>& command);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_EXPORT_RUN_H_
