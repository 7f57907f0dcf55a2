#include "observe/profile/recorder.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/thread.h"

namespace kernpack::host::profile {
namespace {

using Row = std::pair<const Entry*, Totals>;

constexpr double kMicrosecond = 1e3;  // in nanoseconds
constexpr double kMillisecond = 1e6;

// The longest first: by time of their own, then by name. A variant's checked calls are in the row of its others.
std::vector<Row> Rows(const KpProfile& profile) {
  std::map<std::pair<const KpLoadedFunction*, const char*>, Row> merged;
  for (const auto& [entry, totals] : profile.totals) {
    Row& row = merged.try_emplace({entry->function, entry->target}, entry, Totals{}).first->second;
    row.second += totals;
  }
  std::vector<Row> rows;
  rows.reserve(merged.size());
  for (const auto& [variant, row] : merged) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.second.self != b.second.self) return a.second.self > b.second.self;
    return a.first->name < b.first->name;
  });
  return rows;
}

uint64_t GetEnd(const KpProfile& profile) { return profile.end != 0 ? profile.end : Now(); }

std::string Text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

[[gnu::format(printf, 2, 3)]] void Append(std::string* out, const char* format, ...) {
  std::array<char, 512> line;
  va_list values;
  va_start(values, format);
  const int size = std::vsnprintf(line.data(), line.size(), format, values);
  va_end(values);
  out->append(line.data(), std::min(static_cast<size_t>(std::max(size, 0)), line.size() - 1));
}

nlohmann::json Facts(const KpProfile& profile) {
  nlohmann::json ops = nlohmann::json::array();
  uint64_t calls = 0;
  for (const auto& [entry, totals] : Rows(profile)) {
    calls += totals.calls;
    nlohmann::json op;
    op["module"] = entry->function->module_name;
    op["function"] = entry->function->name;
    op["target"] = entry->target != nullptr ? nlohmann::json(entry->target) : nlohmann::json(nullptr);
    op["calls"] = totals.calls;
    op["failed"] = totals.failed;
    op["total_ns"] = totals.total;
    op["self_ns"] = totals.self;
    op["shortest_ns"] = totals.shortest;
    op["longest_ns"] = totals.longest;
    op["bytes"] = totals.bytes;
    ops.push_back(std::move(op));
  }
  nlohmann::json facts;
  facts["wall_ns"] = GetEnd(profile) - profile.begin;
  facts["calls"] = calls;
  facts["left_out_of_trace"] = profile.left_out;
  facts["ops"] = std::move(ops);
  return facts;
}

// The text that all events of an entry share.
std::string Head(const Entry& entry) { return "{\"ph\":\"X\",\"name\":" + Text(entry.name) + ",\"cat\":\"kernpack\""; }

std::string Tail(const Entry& entry) {
  return ",\"target\":" + (entry.target != nullptr ? Text(entry.target) : std::string("\"baseline\"")) + "}}";
}

}  // namespace

std::string Table(const KpProfile& profile) {
  const std::vector<Row> rows = Rows(profile);
  size_t width = 2;
  Totals all;
  for (const auto& [entry, totals] : rows) {
    width = std::max(width, entry->name.size());
    all.calls += totals.calls;
    all.failed += totals.failed;
    all.self += totals.self;
  }
  std::string out;
  Append(&out, "kernpack: %llu call%s, %.3f ms in kernels, %.3f ms of wall clock\n",
         static_cast<unsigned long long>(all.calls), all.calls == 1 ? "" : "s",
         static_cast<double>(all.self) / kMillisecond,
         static_cast<double>(GetEnd(profile) - profile.begin) / kMillisecond);
  if (rows.empty()) return out + "No kernel was called.\n";
  const auto name = [&](const std::string& text) { return text + std::string(width - text.size(), ' '); };
  out += name("op") +
         "     calls    self ms  self %   total ms    mean us     min us     max us         MB    GB/s  target\n";
  for (const auto& [entry, totals] : rows) {
    const auto total = static_cast<double>(totals.total);
    out += name(entry->name);
    Append(&out, " %9llu %10.3f %7.1f %10.3f %10.2f %10.2f %10.2f %10.2f %7.2f  ",
           static_cast<unsigned long long>(totals.calls), static_cast<double>(totals.self) / kMillisecond,
           all.self != 0 ? 100 * static_cast<double>(totals.self) / static_cast<double>(all.self) : 0.0,
           total / kMillisecond, total / kMicrosecond / static_cast<double>(totals.calls),
           static_cast<double>(totals.shortest) / kMicrosecond, static_cast<double>(totals.longest) / kMicrosecond,
           static_cast<double>(totals.bytes) / 1e6,
           totals.total != 0 ? static_cast<double>(totals.bytes) / total : 0.0);
    out += entry->target != nullptr ? entry->target : "baseline";
    if (totals.failed != 0) Append(&out, " (%llu failed)", static_cast<unsigned long long>(totals.failed));
    out += "\n";
  }
  return out;
}

std::string Json(const KpProfile& profile) { return Text(Facts(profile)); }

std::string Trace(const KpProfile& profile) {
  const auto process = static_cast<int>(os::GetProcessNumber());
  std::unordered_map<const Entry*, std::pair<std::string, std::string>> known;
  std::map<int64_t, const char*> threads;
  std::string out = "{\"displayTimeUnit\":\"ns\",\"kernpack\":" + Json(profile) + ",\"traceEvents\":[\n";
  for (const Slice& slice : profile.slices) {
    threads[slice.chunk->thread] = slice.chunk->thread_name.c_str();
    for (uint32_t i = slice.from; i < slice.to; ++i) {
      const Event& event = slice.chunk->events[i];
      if (event.begin < profile.begin) continue;
      auto& text = known[event.entry];
      if (text.first.empty()) text = {Head(*event.entry), Tail(*event.entry)};
      out += text.first;
      Append(&out, R"(,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"bytes":%llu)", process,
             static_cast<int>(slice.chunk->thread), static_cast<double>(event.begin - profile.begin) / kMicrosecond,
             static_cast<double>(event.end - event.begin) / kMicrosecond, static_cast<unsigned long long>(event.bytes));
      if (event.failed != 0) out += ",\"failed\":true";
      out += text.second + ",\n";
    }
  }
  for (const auto& [thread, name] : threads) {
    Append(&out, R"({"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":)", process,
           static_cast<int>(thread));
    out += Text(name) + "}},\n";
  }
  Append(&out, R"({"ph":"M","name":"process_name","pid":%d,"args":{"name":"kernpack"}})", process);
  return out + "\n]}\n";
}

}  // namespace kernpack::host::profile
