#include "driver/counting.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "program/work.h"

namespace kernpack::cuda {
namespace {

using emulator::Counts;
using emulator::Launch;
using emulator::Moved;
using emulator::Runs;
using emulator::Source;
using nlohmann::json;

// One line of the PTX, in all functions that were inlined from it.
struct Line {
  std::string file;
  uint32_t file_line = 0;
  Runs runs;
  Moved global, shared;
};

struct KernelCounts {
  uint64_t launches = 0, blocks = 0, threads = 0;
  uint64_t read = 0, written = 0;  // bytes of the sectors that each launch touched
  std::map<std::pair<uint32_t, std::string>, Line> lines;  // by number and mnemonic
};

json OfMoved(const Moved& moved, const char* unit) {
  return {{"bytes", moved.bytes}, {unit, moved.units}, {"least", moved.least}};
}

json OfKernel(int arch, const std::string& name, const KernelCounts& kernel) {
  Runs all;
  Moved read, written, updated, shared;
  std::map<std::string, uint64_t> work;
  json lines = json::array();
  for (const auto& [key, line] : kernel.lines) {
    const auto& [number, op] = key;
    all.Add(line.runs);
    const bool updates = op.rfind("atom", 0) == 0 || op.rfind("red.", 0) == 0;
    (op.rfind("st", 0) == 0 ? written : updates ? updated : read).Add(line.global);
    shared.Add(line.shared);
    const emulator::ArithmeticWork done = emulator::GetWork(op);
    if (!done.unit.empty()) work[done.unit] += line.runs.threads * done.of_thread + line.runs.warps * done.of_warp;
    json row = {{"line", number}, {"op", op}, {"warps", line.runs.warps}, {"threads", line.runs.threads}};
    if (!line.file.empty()) row["file"] = line.file, row["file_line"] = line.file_line;
    if (line.global.bytes != 0) row["global"] = OfMoved(line.global, "sectors");
    if (line.shared.bytes != 0) row["shared"] = OfMoved(line.shared, "passes");
    lines.push_back(std::move(row));
  }
  return {{"name", name},
          {"arch", "sm_" + std::to_string(arch)},
          {"launches", kernel.launches},
          {"blocks", kernel.blocks},
          {"threads", kernel.threads},
          {"instructions", all.warps},
          {"thread_instructions", all.threads},
          {"touched", {{"read", kernel.read}, {"written", kernel.written}}},
          {"global",
           {{"read", OfMoved(read, "sectors")},
            {"written", OfMoved(written, "sectors")},
            {"updated", OfMoved(updated, "sectors")}}},
          {"shared", OfMoved(shared, "passes")},
          {"work", work},
          {"lines", std::move(lines)}};
}

// "%p" stands for the number of the process.
std::string ExpandPath(const char* text) {
  std::string path = text;
  for (size_t at = 0; (at = path.find("%p", at)) != std::string::npos;) {
    const std::string number = std::to_string(getpid());
    path.replace(at, 2, number);
    at += number.size();
  }
  return path;
}

class Book {
 public:
  void Add(int arch, const Launch& launch, const Counts& counts) {
    KernelCounts& kernel = kernels_[{arch, launch.program->name}];
    const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    ++kernel.launches;
    kernel.blocks += blocks;
    kernel.threads += blocks * launch.block[0] * launch.block[1] * launch.block[2];
    kernel.read += counts.read.count() * emulator::kSectorBytes;
    kernel.written += counts.written.count() * emulator::kSectorBytes;
    const std::vector<Runs> runs = counts.RunsOfSources(*launch.program);
    for (size_t i = 0; i < runs.size(); ++i) {
      const Source& source = launch.program->sources[i];
      Line& line = kernel.lines[{source.line, source.op}];
      line.file = source.file;
      line.file_line = source.file_line;
      line.runs.Add(runs[i]);
      line.global.Add(counts.global[i]);
      line.shared.Add(counts.shared[i]);
    }
  }
  std::string Text() const {
    json kernels = json::array();
    for (const auto& [key, kernel] : kernels_) kernels.push_back(OfKernel(key.first, key.second, kernel));
    const json all = {{"version", 1}, {"kernels", std::move(kernels)}};
    return all.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }

 private:
  std::map<std::pair<int, std::string>, KernelCounts> kernels_;
};

// The file, of the process that loaded the library: what a fork of it counts isn't written.
class CountFile {
 public:
  CountFile() {
    const char* path = std::getenv("KERNPACK_EMULATOR_COUNTS");
    if (path == nullptr || *path == '\0') return;
    path_ = ExpandPath(path);
    owner_ = getpid();
    counting = true;
    if (!std::ofstream(path_).good()) Complain();  // now, not after an hour
  }
  CountFile(const CountFile&) = delete;
  CountFile& operator=(const CountFile&) = delete;
  ~CountFile() {
    if (path_.empty() || getpid() != owner_) return;
    std::ofstream out(path_);
    out << book.Text();
    out.close();
    if (!out.good()) Complain();
  }

  bool counting = false;
  Book book;

 private:
  std::string path_;
  int owner_ = 0;

  void Complain() const {
    std::fprintf(stderr, "kernpack's emulated CUDA device: KERNPACK_EMULATOR_COUNTS: can't write to %s: %s\n",
                 path_.c_str(), std::strerror(errno));
  }
};

CountFile& File() {
  static CountFile file;
  return file;
}

}  // namespace

bool Counting() { return File().counting; }

void Count(bool on) {
  File().counting = on;
  File().book = Book();
}

void AddCounts(int arch, const Launch& launch, const Counts& counts) { File().book.Add(arch, launch, counts); }

std::string CountsText() { return File().book.Text(); }

}  // namespace kernpack::cuda
