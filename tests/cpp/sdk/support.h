// Code that the tests of the SDK share.
#ifndef KERNPACK_TESTS_CPP_SDK_SUPPORT_H_
#define KERNPACK_TESTS_CPP_SDK_SUPPORT_H_

#include <kernpack/error.h>

#include <gtest/gtest.h>

#include <string>

// `statement` throws kernpack::Error of that kind, whose message contains `part`.
#define EXPECT_ERROR(statement, expected_kind, part)                                                \
  do {                                                                                              \
    try {                                                                                           \
      (void)(statement);                                                                            \
      ADD_FAILURE() << #statement " threw nothing";                                                 \
    } catch (const ::kernpack::Error& thrown) {                                                     \
      EXPECT_TRUE(thrown.is(expected_kind)) << std::string(thrown.kind().data, thrown.kind().size); \
      EXPECT_NE(std::string(thrown.what()).find(part), std::string::npos) << thrown.what();         \
    }                                                                                               \
  } while (false)

#endif  // KERNPACK_TESTS_CPP_SDK_SUPPORT_H_
