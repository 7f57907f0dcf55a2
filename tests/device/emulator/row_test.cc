// Loads and stores of a warp: whatever the threads that take part and the addresses they use, each gets its own value. What lies
// side by side takes another way through the emulator than what doesn't.
#include "support.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kBytes = 4096;  // of the input and of its copy

struct Type {
  const char* name;
  uint32_t bytes;
  bool is_signed;
};
struct Threads {
  const char* name;
  const char* ptx;  // sets %p1 for those that take part
  uint32_t mask;
};
struct Pattern {
  const char* name;
  int64_t first, step;  // in elements of the vector
};

std::vector<uint8_t> Input() {
  std::vector<uint8_t> out(kBytes);
  for (uint32_t i = 0; i < kBytes; ++i) out[i] = static_cast<uint8_t>(i * 37 + i / 256 * 11 + 128);
  return out;
}

std::string List(const char* prefix, uint32_t count) {
  std::string out = prefix + std::to_string(10);
  for (uint32_t i = 1; i < count; ++i) out += std::string(", ") + prefix + std::to_string(10 + i);
  return count == 1 ? out : "{" + out + "}";
}

// Each thread reads its vector, writes it to the same place of a copy, and its registers to places of its own.
std::string Text(const Type& type, uint32_t count, const Threads& threads, const Pattern& pattern, bool shared) {
  const bool wide = type.bytes == 8;
  const std::string vector = count == 1 ? "." : ".v" + std::to_string(count) + ".";
  const std::string registers = List(wide ? "%rd" : "%r", count);
  const std::string each = std::to_string(type.bytes * count), held = wide ? "8" : "4";
  std::string body = threads.ptx + std::string("cvt.s64.s32 %rd3, %r0; mad.lo.s64 %rd3, %rd3, ") +
                     std::to_string(pattern.step) + ", " + std::to_string(pattern.first) + "; mul.lo.s64 %rd3, %rd3, " +
                     each + "; add.s64 %rd4, %rd0, %rd3; add.s64 %rd5, %rd1, %rd3;\n";
  std::string from = "global", at = "[%rd4]";
  if (shared) {  // a copy of the input, made by all
    from = "shared", at = "[%r3]";
    body += ".shared .align 16 .b8 s[" + std::to_string(kBytes) +
            "]; mov.u32 %r4, s; mov.u32 %r5, %r0;\n$fill: mul.lo.u32 %r6, %r5, 4; cvt.u64.u32 %rd6, %r6; add.s64 %rd7, "
            "%rd0, "
            "%rd6; ld.global.u32 %r7, [%rd7]; add.u32 %r6, %r6, %r4; st.shared.u32 [%r6], %r7; add.u32 %r5, %r5, 32;\n"
            "setp.lt.u32 %p2, %r5, " +
            std::to_string(kBytes / 4) +
            "; @%p2 bra $fill; bar.sync 0; cvt.u32.u64 %r3, %rd3; add.u32 %r3, %r3, %r4;\n";
  }
  body += "@%p1 ld." + from + vector + type.name + " " + registers + ", " + at + ";\n";
  if (shared) body += "bar.warp.sync -1; @%p1 st.shared" + vector + type.name + " [%r3], " + registers + ";\n";
  body += "@%p1 st.global" + vector + type.name + " [%rd5], " + registers + ";\n";
  body += "mul.wide.u32 %rd8, %r0, " + std::to_string(count * (wide ? 8 : 4)) + "; add.s64 %rd8, %rd8, %rd2;\n";
  for (uint32_t e = 0; e < count; ++e) {
    body += std::string("@%p1 st.global.u") + (wide ? "64 " : "32 ") + "[%rd8+" + std::to_string(e * (wide ? 8 : 4)) +
            "], " + (wide ? "%rd" : "%r") + std::to_string(10 + e) + ";\n";
  }
  return Kernel(3, body);
}

uint64_t Extended(const Type& type, const uint8_t* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, type.bytes);
  const uint64_t sign = uint64_t{1} << (type.bytes * 8 - 1);
  if (type.is_signed && (value & sign) != 0) value |= ~(sign * 2 - 1);
  return type.bytes == 8 ? value : value & 0xffffffffU;
}

class Rows : public testing::TestWithParam<Type> {};

TEST_P(Rows, EachThreadGetsItsOwn) {
  const Type type = GetParam();
  const Threads all[] = {
      {"all", "setp.ge.u32 %p1, %r0, 0;\n", ~0U},
      {"the first five", "setp.lt.u32 %p1, %r0, 5;\n", 0x1f},
      {"every second", "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1;\n", 0xaaaaaaaa},
      {"the eighth", "setp.eq.u32 %p1, %r0, 7;\n", 1U << 7},
      {"none", "setp.ge.u32 %p1, %r0, 32;\n", 0},
  };
  const Pattern patterns[] = {{"neighbours", 3, 1}, {"one", 5, 0}, {"backwards", 40, -1}, {"apart", 0, 2}};
  const std::vector<uint8_t> input = Input();
  for (uint32_t count : {1U, 2U, 4U}) {
    if (type.bytes * count > 16) continue;
    for (const Threads& threads : all) {
      for (const Pattern& pattern : patterns) {
        for (bool shared : {false, true}) {
          SCOPED_TRACE(std::to_string(count) + " x " + type.name + ", " + threads.name + ", " + pattern.name +
                       (shared ? ", shared" : ""));
          const uint32_t held = type.bytes == 8 ? 8 : 4;
          TestMemory memory;
          const uint64_t in = memory.Add(input), copy = memory.Add(std::vector<uint8_t>(kBytes, 0xee)),
                         out = memory.Add(std::vector<uint8_t>(32 * count * held, 0xdd));
          ASSERT_EQ(RunText(Text(type, count, threads, pattern, shared), memory, {in, copy, out}), "");
          std::vector<uint8_t> copied(kBytes, 0xee), registers(32 * count * held, 0xdd);
          for (uint32_t l = 0; l < 32; ++l) {
            if ((threads.mask >> l & 1) == 0) continue;
            for (uint32_t e = 0; e < count; ++e) {
              const size_t at =
                  static_cast<size_t>(pattern.first + l * pattern.step) * count * type.bytes + e * type.bytes;
              const uint64_t value = Extended(type, &input[at]);
              std::memcpy(&copied[at], &input[at], type.bytes);
              std::memcpy(&registers[(l * count + e) * held], &value, held);
            }
          }
          ASSERT_EQ(memory.Read<uint8_t>(copy, kBytes), copied);
          ASSERT_EQ(memory.Read<uint8_t>(out, registers.size()), registers);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Rows,
                         testing::Values(Type{"u8", 1, false}, Type{"s8", 1, true}, Type{"u16", 2, false},
                                         Type{"s16", 2, true}, Type{"b32", 4, false}, Type{"b64", 8, false}),
                         [](const auto& info) { return std::string(info.param.name); });

// The last thread's value ends outside of the allocation, whoever else takes part.
TEST(RowBounds, AThreadBeyondTheEndIsNamed) {
  for (const char* who : {"setp.ge.u32 %p1, %r0, 0;", "setp.ge.u32 %p1, %r0, 30;", "setp.eq.u32 %p1, %r0, 31;"}) {
    for (const char* op : {"ld.global.u32 %r1, [%rd1];", "st.global.u32 [%rd1], %r0;"}) {
      TestMemory memory;
      const uint64_t in = memory.Add(std::vector<uint8_t>(127));
      const std::string said =
          RunText(Kernel(1, std::string(who) + "add.s64 %rd1, %rd0, %rd20; @%p1 " + op), memory, {in});
      EXPECT_NE(said.find("thread (31, 0, 0)"), std::string::npos) << who << op << said;
      EXPECT_NE(said.find("no allocation is there"), std::string::npos) << said;
    }
  }
}

// Of a row that is read, one thread's value has never been written.
TEST(RowBounds, AThreadThatReadsWhatIsUnwrittenIsNamed) {
  TestMemory memory;
  const uint64_t in = memory.Room(128), out = memory.Room(128);
  const std::string fill = "add.s64 %rd2, %rd0, %rd20; setp.ne.u32 %p1, %r0, 9; @%p1 st.global.u32 [%rd2], %r0;";
  const std::string copy = "ld.global.u32 %r1, [%rd2]; add.s64 %rd3, %rd1, %rd20; st.global.u32 [%rd3], %r1;";
  EXPECT_NE(RunText(Kernel(2, fill + copy), memory, {in, out}).find("thread (9, 0, 0)"), std::string::npos);
  EXPECT_EQ(RunText(Kernel(2, fill + "@!%p1 st.global.u32 [%rd2], %r0;" + copy), memory, {in, out}), "");
}

}  // namespace
}  // namespace kernpack::emulator
