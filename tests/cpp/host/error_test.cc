// The error slot: raising, taking, threads, backtraces.
#include "support.h"

#include <cstdlib>
#include <thread>

namespace kernpack_test {
namespace {

class ErrorTest : public HostTest {};

TEST_F(ErrorTest, RaiseThenTake) {
  EXPECT_EQ(kp_error_pending(), 0);
  EXPECT_EQ(kp_raise("ValueError", "%s: expected %d, got %d", "f", 1, 2), -1);
  EXPECT_EQ(kp_error_pending(), 1);
  EXPECT_EQ(TakeError(), "ValueError: f: expected 1, got 2");
  EXPECT_EQ(kp_error_pending(), 0);
}

TEST_F(ErrorTest, EmptySlotIsAnInternalErrorNamingTheFunction) {
  EXPECT_EQ(TakeError("my_kernel"), "InternalError: my_kernel returned -1 without an error");
  Value taken;
  kp_error_take(nullptr, 7, taken.out());
  EXPECT_EQ(Text(reinterpret_cast<KpErrorObject*>(taken.object())->message),
            "the function returned 7 without an error");
}

TEST_F(ErrorTest, LongMessagesAreNotCut) {
  const std::string text(100000, 'x');
  kp_raise("TypeError", "%s", text.c_str());
  EXPECT_EQ(TakeError(), "TypeError: " + text);
}

TEST_F(ErrorTest, PercentSignsAndAnyBytesInTheMessageAreKept) {
  const std::string text("100%s %n \0 \xff\xfe", 13);
  host->raise(host, kp_bytes("ValueError"), AsBytes(text), KpBytes{});
  EXPECT_EQ(TakeError(), "ValueError: " + text);
}

TEST_F(ErrorTest, TextIsNulTerminated) {
  host->raise(host, KpBytes{"KeyErrorX", 8}, KpBytes{"messageX", 7}, KpBytes{"frameX", 5});
  Value taken;
  ASSERT_EQ(host->take_error(host, taken.out()), 0);
  const auto* error = reinterpret_cast<KpErrorObject*>(taken.object());
  EXPECT_STREQ(error->kind.data, "KeyError");
  EXPECT_STREQ(error->message.data, "message");
  EXPECT_STREQ(error->backtrace.data, "frame");
}

TEST_F(ErrorTest, NoKindIsARuntimeError) {
  host->raise(host, KpBytes{}, kp_bytes("m"), KpBytes{});
  EXPECT_EQ(TakeError(), "RuntimeError: m");
}

TEST_F(ErrorTest, TheLastRaiseWins) {
  kp_raise("ValueError", "first");
  kp_raise("TypeError", "second");
  EXPECT_EQ(TakeError(), "TypeError: second");
}

TEST_F(ErrorTest, TakeServiceGivesNoneWhenNothingIsRaised) {
  Value taken;
  EXPECT_EQ(host->take_error(host, taken.out()), 0);
  EXPECT_EQ(taken->type_index, KP_TYPE_NONE);
}

TEST_F(ErrorTest, RaiseObjectSharesTheObject) {
  Value error;
  ASSERT_EQ(kp_error_new(kp_bytes("IndexError"), kp_bytes("out of range"), KpBytes{}, error.out()), 0);
  EXPECT_EQ(host->raise_object(host, error.object()), -1);
  Value taken;
  kp_error_take("f", -1, taken.out());
  EXPECT_EQ(taken.object(), error.object());
}

TEST_F(ErrorTest, RaiseObjectRefusesWhatIsNoError) {
  EXPECT_EQ(host->raise_object(host, nullptr), -1);
  EXPECT_EQ(TakeError(), "TypeError: raise_object: expected an Error object, got NULL");
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  EXPECT_EQ(host->raise_object(host, shape.object()), -1);
  EXPECT_EQ(TakeError(), "TypeError: raise_object: expected an Error object, got Shape");
}

TEST_F(ErrorTest, BacktraceCanBeReplacedAndAppended) {
  Value value;
  ASSERT_EQ(kp_error_new(kp_bytes("E"), kp_bytes("m"), kp_bytes("a"), value.out()), 0);
  auto* error = reinterpret_cast<KpErrorObject*>(value.object());
  const KpBytes more = kp_bytes("b");
  error->update_backtrace(error, &more, 1);
  EXPECT_STREQ(error->backtrace.data, "ab");
  error->update_backtrace(error, &more, 0);
  EXPECT_STREQ(error->backtrace.data, "b");
  error->update_backtrace(error, &error->backtrace, 1);
  EXPECT_STREQ(error->backtrace.data, "bb");
}

TEST_F(ErrorTest, EachThreadHasItsOwnSlot) {
  std::vector<std::thread> threads;
  std::vector<std::string> seen(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&seen, t] {
      for (int i = 0; i < 1000; ++i) {
        kp_raise("ValueError", "thread %d step %d", t, i);
        seen[t] = TakeError();
        if (seen[t] != "ValueError: thread " + std::to_string(t) + " step " + std::to_string(i)) return;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t) EXPECT_EQ(seen[t], "ValueError: thread " + std::to_string(t) + " step 999");
}

TEST_F(ErrorTest, AThreadThatEndsWithAnErrorPendingDoesNotLeakIt) {
  std::thread([] { kp_raise("ValueError", "never taken"); }).join();
}

std::string BacktraceOfRaise() {
  kp_raise("ValueError", "m");
  Value taken;
  kp_error_take("f", -1, taken.out());
  return Text(reinterpret_cast<KpErrorObject*>(taken.object())->backtrace);
}

TEST_F(ErrorTest, BacktraceOnlyWhenAskedFor) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        unsetenv("KERNPACK_BACKTRACE");
        std::exit(BacktraceOfRaise().empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("KERNPACK_BACKTRACE", "1", 1);
        std::exit(BacktraceOfRaise().find("File \"") != std::string::npos ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kernpack_test
