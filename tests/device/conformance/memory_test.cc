// Allocation: sizes, alignment, scopes, failures.
#include <algorithm>
#include <cstring>
#include <set>

#include "support.h"

namespace kernpack_conformance {
namespace {

class MemoryTest : public Conformance {};

TEST_F(MemoryTest, AllocationsAreApart) {
  Memory first(1000);
  Memory second(1000);
  ASSERT_NE(first.handle(), second.handle());
  Upload(Pattern(1000, 1), first.at());
  Upload(Pattern(1000, 2), second.at());
  EXPECT_EQ(Download(first.at(), 1000), Pattern(1000, 1));
  EXPECT_EQ(Download(second.at(), 1000), Pattern(1000, 2));
}

TEST_F(MemoryTest, EveryAlignmentUpToTheLargest) {
  for (uint64_t alignment = 1; alignment <= api->max_alignment; alignment *= 2) {
    SCOPED_TRACE(alignment);
    Memory memory(100, "", alignment);
    if (TheSubject().Has(KP_DEVICE_ADDRESSES)) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.handle()) % std::max<uint64_t>(alignment, 64), 0u);
    }
    Upload(Pattern(100), memory.at());
    EXPECT_EQ(Download(memory.at(), 100), Pattern(100));
  }
  void* handle = nullptr;
  EXPECT_EQ(api->alloc(api, device, 100, uint64_t{api->max_alignment} * 2, KpBytes{}, &handle), -1);
  EXPECT_EQ(TakeError().rfind("ValueError: ", 0), 0u) << "an alignment above max_alignment";
}

TEST_F(MemoryTest, NoBytesHaveAHandle) {
  Memory empty(0);
  Memory other(0);
  EXPECT_NE(empty.handle(), nullptr);
  const KpMemory from = empty.at();
  const KpMemory to = other.at();
  const KpMemory host = OnHost(nullptr);
  EXPECT_EQ(api->copy(api, &from, &to, 0, nullptr), 0);
  EXPECT_EQ(api->copy(api, &host, &to, 0, nullptr), 0);
  EXPECT_EQ(api->copy(api, &from, &host, 0, nullptr), 0);
  EXPECT_EQ(api->fill(api, &to, 0, 1, nullptr), 0);
}

TEST_F(MemoryTest, EveryScopeHoldsData) {
  std::set<std::string> seen;
  for (const char* const* scope = api->scopes; *scope != nullptr; ++scope) {
    SCOPED_TRACE(*scope);
    EXPECT_TRUE(seen.insert(*scope).second) << "listed twice";
    Memory memory(5000, *scope);
    Upload(Pattern(5000), memory.at());
    EXPECT_EQ(Download(memory.at(), 5000), Pattern(5000));
  }
}

TEST_F(MemoryTest, AnUnknownScopeIsAnErrorThatListsThem) {
  void* handle = nullptr;
  ASSERT_EQ(api->alloc(api, device, 16, 64, kp_bytes("no.such.scope"), &handle), -1);
  const std::string error = TakeError();
  EXPECT_EQ(error.rfind("ValueError: ", 0), 0u) << error;
  EXPECT_NE(error.find("no.such.scope"), std::string::npos) << error;
  EXPECT_NE(error.find(api->scopes[0]), std::string::npos) << error;
}

TEST_F(MemoryTest, TooMuchIsAMemoryErrorAndTheDeviceGoesOn) {
  for (const uint64_t bytes : {uint64_t{1} << 50, uint64_t{1} << 62}) {
    void* handle = nullptr;
    ASSERT_EQ(api->alloc(api, device, bytes, 64, KpBytes{}, &handle), -1) << bytes;
    const std::string error = TakeError();
    EXPECT_EQ(error.rfind("MemoryError: ", 0), 0u) << error;
  }
  Memory memory(64);
  Upload(Pattern(64), memory.at());
  EXPECT_EQ(Download(memory.at(), 64), Pattern(64));
}

TEST_F(MemoryTest, WhatIsFreedComesBack) {
  for (int i = 0; i < 2000; ++i) Memory memory(uint64_t{16} << 20);  // 32 GB in all
}

TEST_F(MemoryTest, FillsWithAByte) {
  Memory memory(1000);
  Upload(Pattern(1000), memory.at());
  for (const int value : {0, 1, 255}) {
    const KpMemory middle = memory.at(101);
    KP_OK(api->fill(api, &middle, 333, value, nullptr));
    Bytes wanted = Pattern(1000);
    std::memset(wanted.data() + 101, value, 333);
    EXPECT_EQ(Download(memory.at(), 1000), wanted);
  }
}

TEST_F(MemoryTest, InTheOrderOfAStreamHoldsData) {
  void* handle = nullptr;
  void* stream = nullptr;
  KP_OK(api->stream_new(api, device, 0, &stream));
  for (int i = 0; i < 10; ++i) {
    KP_OK(api->alloc_async(api, device, 4096, 64, stream, &handle));
    const KpMemory memory{handle, 0, device};
    Upload(Pattern(4096, 7), memory, stream);
    EXPECT_EQ(Download(memory, 4096, stream), Pattern(4096, 7));
    KP_OK(api->free_async(api, device, handle, stream));
  }
  KP_OK(api->stream_sync(api, device, stream));
  KP_OK(api->stream_free(api, device, stream));
}

}  // namespace
}  // namespace kernpack_conformance
