#include "program.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "memory.h"

namespace toy {
namespace {

constexpr size_t kMaxDepth = 16;

size_t ArgumentIndex(const std::string& word) {
  if (word.size() != 2 || word[0] != 'a' || word[1] < '0' || word[1] > '9') {
    throw Error("ValueError", "expected an argument a0 to a9, got '" + word + "'");
  }
  return static_cast<size_t>(word[1] - '0');
}

Step ReadStep(const std::string& word) {
  if (word == "+" || word == "-" || word == "*") return {word[0], 0, 0};
  if (word[0] == 'a') return {'a', ArgumentIndex(word), 0};
  std::istringstream digits(word);
  float number = 0;
  if (!(digits >> number) || !digits.eof()) throw Error("ValueError", "'" + word + "' isn't a step of a formula");
  return {'n', 0, number};
}

Kernel ReadKernel(const std::string& line) {
  std::istringstream words(line);
  Kernel kernel{};
  std::string word;
  if (!(words >> word) || word != "kernel")
    throw Error("ValueError", "expected 'kernel NAME: FORMULA', got '" + line + "'");
  if (!(words >> kernel.name) || kernel.name.back() != ':') throw Error("ValueError", "expected a name and a colon");
  kernel.name.pop_back();
  size_t depth = 0;
  while (words >> word && word != "->") {
    const Step step = ReadStep(word);
    const bool operation = step.what != 'a' && step.what != 'n';
    if (operation && depth < 2) throw Error("ValueError", "'" + word + "' needs two values");
    depth = operation ? depth - 1 : depth + 1;
    if (depth > kMaxDepth) throw Error("ValueError", "the formula of " + kernel.name + " is too deep");
    if (step.what == 'a') kernel.arguments = std::max(kernel.arguments, step.index + 1);
    kernel.steps.push_back(step);
  }
  if (depth != 1 || !(words >> word))
    throw Error("ValueError", "the formula of " + kernel.name + " leaves no one value");
  kernel.result = ArgumentIndex(word);
  kernel.arguments = std::max(kernel.arguments, kernel.result + 1);
  return kernel;
}

}  // namespace

Program Compile(std::string_view text) {
  Program program;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t") != std::string::npos) program.kernels.push_back(ReadKernel(line));
  }
  if (program.kernels.empty()) throw Error("ValueError", "the program has no kernel");
  return program;
}

std::vector<Argument> Bind(const Kernel& kernel, const KpLaunch& launch, uint64_t threads, KpDLDevice device,
                           const Memory& memory) {
  if (launch.num_args < 0 || static_cast<size_t>(launch.num_args) != kernel.arguments) {
    throw Error("TypeError", kernel.name + ": expected " + std::to_string(kernel.arguments) + " arguments, got " +
                                 std::to_string(launch.num_args));
  }
  std::vector<Argument> arguments;
  for (size_t i = 0; i < kernel.arguments; ++i) {
    const KpKernelArg& given = launch.args[i];
    Argument argument{nullptr, 0};
    if (given.size != sizeof(float) || given.kind == KP_ARG_LOCAL) {
      throw Error("TypeError", kernel.name + ": argument " + std::to_string(i) + ": expected a float or memory of f32");
    }
    if (given.kind == KP_ARG_VALUE) {
      std::memcpy(&argument.number, given.data, sizeof(float));
    } else {
      const KpMemory place{const_cast<void*>(given.data), given.offset, device};
      argument.memory = reinterpret_cast<float*>(memory.At(place, threads * sizeof(float)));
    }
    arguments.push_back(argument);
  }
  if (arguments[kernel.result].memory == nullptr) throw Error("TypeError", kernel.name + ": the result isn't memory");
  return arguments;
}

void Execute(const Kernel& kernel, const std::vector<Argument>& arguments, uint64_t threads) {
  for (uint64_t thread = 0; thread < threads; ++thread) {
    float stack[kMaxDepth];
    size_t depth = 0;
    for (const Step& step : kernel.steps) {
      if (step.what == 'n') {
        stack[depth++] = step.number;
      } else if (step.what == 'a') {
        const Argument& argument = arguments[step.index];
        stack[depth++] = argument.memory != nullptr ? argument.memory[thread] : argument.number;
      } else {
        const float right = stack[--depth];
        float& left = stack[depth - 1];
        left = step.what == '+' ? left + right : step.what == '-' ? left - right : left * right;
      }
    }
    arguments[kernel.result].memory[thread] = stack[0];
  }
}

}  // namespace toy
