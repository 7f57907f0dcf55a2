// Compares the meaning of two modules.
#pragma once

#include <gtest/gtest.h>

#include "ir/arguments.h"

namespace ir_test {

// Runs function 0 of both modules on the same arguments and compares all memory byte for byte.
inline void ExpectSame(const IRModule& before, const IRModule& after, const Dims& dims, const std::string& what) {
  const FuncNode& f = *before.functions[0];
  Arguments want(f, dims, 1), got(f, dims, 1);
  Interpret(before, f.name, want.Any());
  ASSERT_EQ(CatchMessage([&] { Interpret(after, f.name, got.Any()); }), "") << what << ":\n" << Print(after);
  for (size_t i = 0; i < want.arrays().size(); ++i) {
    EXPECT_EQ(want.arrays()[i].bytes, got.arrays()[i].bytes) << what << ", tensor " << i << ":\n" << Print(after);
  }
}

}  // namespace ir_test
