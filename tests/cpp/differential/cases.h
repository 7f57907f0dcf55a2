// Functions to compare: what each is drawn from, and what to say of one on which two columns differ.
#pragma once

#include <sstream>

#include "differential/columns.h"
#include "differential/replay.h"
#include "differential/shrink.h"

namespace ir_test {

// A function, after what it calls, and the same as a random schedule leaves it.
struct RandomCase {
  uint64_t seed = 0;
  IRModule plain, scheduled;
  std::vector<std::string> trace;  // a primitive a line; none: nothing is scheduled
  // `plain`, or a smaller form of it, with only some of the primitives; nothing where one is refused.
  std::function<std::optional<IRModule>(const IRModule& plain, const std::vector<std::string>& trace)> reschedule;

  const std::string& function() const { return plain.functions.back()->name; }
};
using Draw = std::function<RandomCase(uint64_t seed)>;

inline std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline std::vector<RandomCase> Cases(uint64_t first, uint64_t count, const Draw& draw) {
  std::vector<RandomCase> made;
  for (uint64_t seed = first; seed < first + count; ++seed) made.push_back(draw(seed));
  return made;
}

// True if device code can say it: a launch has no memory whose size it computes. Of a legal schedule, lowering may also leave a
// form in which the verifier no longer sees that two lanes never meet; it then refuses, which is safe.
inline bool FitsADevice(const IRModule& module) {
  try {
    kernpack::sdk::Source(module, kernpack::sdk::Target("opencl"));
    return true;
  } catch (const kernpack::Error& e) {
    const std::string kind(e.kind().data, e.kind().size), message = e.what();
    if (kind != "NotImplementedError" && message.find("may touch the same elements") == std::string::npos) throw;
    return false;
  }
}

// All functions of the cases, as they are or scheduled.
inline IRModule Together(const std::vector<RandomCase>& cases, const std::string& name, bool scheduled) {
  IRModule module{name, "", {}};
  for (const RandomCase& c : cases) {
    for (const PrimFunc& f : (scheduled ? c.scheduled : c.plain).functions) module.functions.push_back(f);
  }
  return module;
}

// True if its results depend on nothing that it has not stored.
inline bool IsDefined(const FuncNode& f, const IRModule& module) {
  return Difference(f, Interpreted(module), Interpreted(module, std::byte{0xa5})) == "";
}

// A process loads a module of one name once.
inline IRModule Fresh(IRModule module) {
  static int copies = 0;
  module.name += "_" + std::to_string(++copies);
  return module;
}

// The seed, the function, its schedule and what to run, of whatever went wrong.
inline std::string Report(const RandomCase& c, const std::string& what) {
  std::string text = "seed " + std::to_string(c.seed) + ": " + what + "\nfunction:\n" + Print(c.plain);
  if (!c.trace.empty()) text += "schedule:\n" + Lines(c.trace);
  return text + "replay: " + ReplayCommand(c.seed) + "\n";
}

// Of a case on which a column and the interpreter differ, as little as shows it.
inline std::string Smaller(const RandomCase& c, const Column& column) {
  const auto fails = [&](const IRModule& m, const std::vector<std::string>& trace) {
    const std::optional<IRModule> scheduled = c.reschedule(m, trace);
    if (!scheduled) return false;
    const IRModule lowered = Lower(m);
    const Runner got = column.compile(Fresh(*scheduled));
    return IsDefined(*m.functions.back(), lowered) &&
           !Difference(*m.functions.back(), Interpreted(lowered), got).value_or("").empty();
  };
  std::vector<std::string> trace = c.trace;
  for (size_t i = trace.size(); i-- > 0;) {
    std::vector<std::string> fewer = trace;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(c.plain, fewer)) trace = std::move(fewer);
  }
  // Where the generator is wrong, and no schedule, what is scheduled shows it by itself.
  const IRModule scheduled = c.reschedule(c.plain, trace).value_or(c.plain);
  const bool alone = fails(scheduled, {});
  if (alone) trace.clear();
  const IRModule small = Shrink(alone ? scheduled : c.plain, [&](const IRModule& m) { return fails(m, trace); }, 150);
  return "smaller:\n" + Print(small) + (trace.empty() ? "" : "schedule:\n" + Lines(trace));
}

}  // namespace ir_test
