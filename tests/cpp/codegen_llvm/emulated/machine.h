// Another machine, emulated: modules built for it run there while the test that compares their results is here.
#pragma once

#include <fcntl.h>
#include <kernpack/sdk/codegen/generator.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen_llvm/emulated/call_file.h"
#include "codegen_llvm/support.h"
#include "ir/compiled.h"

namespace ir_test {

namespace fs = std::filesystem;

inline constexpr char kForeignTriple[] = "aarch64-linux-gnu";
inline constexpr char kForeignTarget[] = "llvm -mtriple=aarch64-linux-gnu";

// The missing tool for tests on that machine, or "".
inline std::string MissingForEmulation() {
  for (const char* const tool : {"qemu-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld"}) {
    if (std::system((std::string("command -v ") + tool + " > /dev/null").c_str()) != 0) {
      return std::string("there is no ") + tool + " (Debian: apt install qemu-user g++-aarch64-linux-gnu)";
    }
  }
  const std::string refused = CatchMessage([] {
    kernpack::sdk::Source(Parse("func f(x: f32[1]) -> (o: f32[1]) { o[0] = x[0] }"),
                          kernpack::sdk::Target(kForeignTarget));
  });
  return refused.find("was built without code for") == std::string::npos ? "" : refused;
}

// A module running on the emulated machine.
class Emulated {
 public:
  // Exports the module for it: as a library that a host loads, or as an object that is linked into one.
  explicit Emulated(const IRModule& module, const std::string& options = "", bool linked = false) {
    const fs::path file = folder_.path() / (linked ? "module.o" : "module.so"), program = folder_.path() / "run_module";
    kernpack::sdk::Export(module, kernpack::sdk::Target(kForeignTarget + options), file);
    std::string compile =
        "aarch64-linux-gnu-gcc -Wall -Werror -I'" FFI_INCLUDE "' -o '" + program.string() + "' '" RUN_MODULE "'";
    if (linked) compile += " -DLINKED=kp_module_v1_" + module.name + " '" + file.string() + "'";
    if (std::system(compile.c_str()) != 0) throw std::runtime_error("the compiler failed: " + compile);
    Start(program, linked ? "" : file.string());
  }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;
  ~Emulated() {
    if (to_) fclose(to_);  // no more calls: it ends
    if (from_) fclose(from_);
    waitpid(pid_, nullptr, 0);
  }

  // As Compiled's.
  std::string Call(const std::string& function, const std::vector<KpAny>& args) {
    const std::string path = folder_.path() / "call";
    std::string bytes = Pack(args);
    std::ofstream(path, std::ios::binary) << bytes;
    std::fprintf(to_, "%s %s\n", function.c_str(), path.c_str());
    std::fflush(to_);
    char line[2048];
    if (!std::fgets(line, sizeof line, from_)) throw std::runtime_error("the emulated host ended in " + function);
    std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    Unpack(bytes, args);
    return std::string(line, std::strlen(line) - 1);
  }

 private:
  Folder folder_;
  pid_t pid_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;

  void Start(const std::string& program, const std::string& module) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const char* argv[] = {
        "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program.c_str(), module.empty() ? nullptr : module.c_str(),
        nullptr};
    const int rc = posix_spawnp(&pid_, argv[0], &actions, nullptr, const_cast<char**>(argv), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (rc != 0) throw std::runtime_error("posix_spawnp qemu-aarch64");
    signal(SIGPIPE, SIG_IGN);  // a host that ended is an error of the call
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
  }

  static size_t CountBytes(const KpDLTensor& t) {
    size_t n = t.dtype.bits / 8 + (t.dtype.bits % 8 != 0);
    for (int d = 0; d < t.ndim; ++d) n *= static_cast<size_t>(t.shape[d]);
    return n;
  }

  static std::string Pack(const std::vector<KpAny>& args) {
    CallFile head{static_cast<int32_t>(args.size()), {}};
    if (args.size() > kMostArguments) throw std::invalid_argument("more arguments than a call file has");
    std::string elements;
    for (size_t i = 0; i < args.size(); ++i) {
      CallArgument& to = head.arguments[i];
      to.type_index = args[i].type_index;
      to.bits = args[i].v.v_bits;
      if (args[i].type_index != KP_TYPE_DLTENSOR_PTR) continue;
      const KpDLTensor& t = *args[i].v.v_tensor;
      if (t.ndim > kMostDims) throw std::invalid_argument("more dimensions than a call file has");
      to.ndim = t.ndim;
      to.dtype = t.dtype;
      std::copy(t.shape, t.shape + t.ndim, to.shape);
      to.bits = sizeof head + elements.size();
      elements.append(static_cast<const char*>(t.data), CountBytes(t));
      elements.resize((elements.size() + 15) / 16 * 16);
    }
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + elements;
  }

  static void Unpack(const std::string& bytes, const std::vector<KpAny>& args) {
    CallFile head;
    std::memcpy(&head, bytes.data(), sizeof head);
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].type_index != KP_TYPE_DLTENSOR_PTR) continue;
      const KpDLTensor& t = *args[i].v.v_tensor;
      std::memcpy(t.data, bytes.data() + head.arguments[i].bits, CountBytes(t));
    }
  }
};

}  // namespace ir_test
