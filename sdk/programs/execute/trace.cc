#include <kernpack/error.h>
#include <kernpack/sdk/program/plan.h>
#include <kernpack/sdk/program/trace.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "execute/device_map.h"

namespace kernpack::sdk::program {
namespace {

using nlohmann::json;

std::string StreamName(const TraceEvent& event) {
  if (event.stream == kNoStream) return "host";
  return (event.copies ? "copies " : "stream ") + std::to_string(event.stream);
}

// The name of a process or a thread in viewers.
json Label(const char* what, int64_t process, int64_t thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

void Trace::Add(std::vector<TraceEvent> events) {
  const std::lock_guard lock(mutex_);
  events_.insert(events_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
}

std::vector<TraceEvent> Trace::events() const {
  std::vector<TraceEvent> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted = events_;
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.begin < b.begin; });
  return sorted;
}

std::string Trace::Json() const {
  json list = json::array();
  std::vector<std::string> processes;
  std::vector<std::pair<int64_t, uint32_t>> threads;
  for (const TraceEvent& event : events()) {
    const std::string device = GetName(event.device);
    const auto process = std::find(processes.begin(), processes.end(), device);
    const auto pid = static_cast<int64_t>(process - processes.begin());
    if (process == processes.end()) {
      processes.push_back(device);
      list.push_back(Label("process_name", pid, 0, device));
    }
    const auto thread = std::find(threads.begin(), threads.end(), std::pair(pid, event.stream));
    const auto tid = static_cast<int64_t>(thread - threads.begin());
    if (thread == threads.end()) {
      threads.emplace_back(pid, event.stream);
      list.push_back(Label("thread_name", pid, tid, StreamName(event)));
    }
    list.push_back({{"name", event.name},
                    {"ph", "X"},
                    {"pid", pid},
                    {"tid", tid},
                    {"ts", event.begin},
                    {"dur", event.end - event.begin},
                    {"args", {{"program", event.program}, {"step", event.step}, {"bytes", event.bytes}}}});
  }
  return json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(list)}}.dump();
}

void Trace::Write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << Json();
  file.close();
  if (!file) KP_THROW(OSError) << "trace: cannot write '" << path << "'";
}

}  // namespace kernpack::sdk::program
