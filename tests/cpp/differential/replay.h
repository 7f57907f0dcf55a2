// How to see a failure again: the command for one seed, and which seeds a process that crashes had.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>

#include <unistd.h>

namespace ir_test {

inline constexpr char kOnly[] = "KERNPACK_DIFFERENTIAL_ONLY";

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The test that runs now, in the environment that it has, on nothing but the seed.
inline std::string ReplayCommand(uint64_t seed) {
  std::string command = std::string(kOnly) + "=" + std::to_string(seed);
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const bool says_how = text.rfind("KERNPACK_", 0) == 0 || text.rfind("POCL_", 0) == 0;
    if (says_how && text.rfind("KERNPACK_DIFFERENTIAL_", 0) != 0) command += " '" + text + "'";
  }
  std::error_code no_matter;
  command += " " + std::filesystem::read_symlink("/proc/self/exe", no_matter).string();
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (test) command += " --gtest_filter='" + std::string(test->test_suite_name()) + "." + test->name() + "'";
  return command;
}

// Says, while it lives, what ran when the process dies of a signal; who handled the signal before does so afterwards.
class CrashNote {
 public:
  explicit CrashNote(const std::string& text) {
    std::snprintf(State().text, sizeof(State().text), "%s\n", text.c_str());
    struct sigaction say{};
    say.sa_handler = &Say;
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &say, &State().before[i]);
  }
  ~CrashNote() { Restore(); }
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  struct Notes {
    char text[4096];
    struct sigaction before[std::size(kSignals)];
  };

  static Notes& State() {
    static Notes notes;
    return notes;
  }
  static void Restore() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &State().before[i], nullptr);
  }
  // The instruction runs again, and abort() goes on.
  static void Say(int) {
    const char* text = State().text;
    if (write(STDERR_FILENO, text, std::strlen(text)) >= 0) Restore();
  }
};

}  // namespace ir_test
