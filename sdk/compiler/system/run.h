// Finding and running programs.
#ifndef KERNPACK_SDK_COMPILER_SYSTEM_RUN_H_
#define KERNPACK_SDK_COMPILER_SYSTEM_RUN_H_

#include <string>
#include <vector>

namespace kernpack::sdk {

struct RunResult {
  int status = 0;  // 0: it succeeded; 128 + n: signal n ended it
  std::string output;  // what it wrote, both streams
};

// The file that a shell would run for a name, or for a path; "" when there is none. Any thread.
std::string FindProgram(const std::string& name);

// The first word is a program's path. Without a shell and without input. OSError when it cannot be started. Any thread.
RunResult Run(const std::vector<std::string>& command);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_SYSTEM_RUN_H_
