// Images: what they are for, read before the driver sees them; logs of those it refuses; kernels by name.
#include <cstring>

#include "backends/cuda/image.h"
#include <dlfcn.h>

#include "support.h"

namespace kernpack::cuda {
namespace {

template <class T>
void Put(std::string* bytes, size_t offset, T value) {
  if (bytes->size() < offset + sizeof value) bytes->resize(offset + sizeof value);
  std::memcpy(bytes->data() + offset, &value, sizeof value);
}

// The least that is a cubin: a header, section names, and their table.
std::string Cubin(int sm, const std::vector<std::string>& kernels, int abi = 8) {
  std::string names("\0.shstrtab\0", 11);
  std::vector<uint32_t> offsets{0, 1};
  for (const std::string& kernel : kernels) {
    offsets.push_back(static_cast<uint32_t>(names.size()));
    names += ".text." + kernel + '\0';
  }
  std::string image(
      "\x7f"
      "ELF\2\1\1\x41",
      8);
  Put<uint8_t>(&image, 8, static_cast<uint8_t>(abi));
  Put<uint16_t>(&image, 18, 190);
  const auto number = static_cast<uint32_t>(sm);
  Put<uint32_t>(&image, 48, abi >= 8 ? number << 8 : number);
  image.resize(64);
  const size_t table = (64 + names.size() + 7) / 8 * 8;
  Put<uint64_t>(&image, 40, table);
  Put<uint16_t>(&image, 58, 64);
  Put<uint16_t>(&image, 60, static_cast<uint16_t>(offsets.size()));
  Put<uint16_t>(&image, 62, 1);
  image += names;
  image.resize(table);
  for (size_t i = 0; i < offsets.size(); ++i) {
    Put<uint32_t>(&image, table + i * 64, offsets[i]);
    Put<uint64_t>(&image, table + i * 64 + 24, 64);
    image.resize(table + (i + 1) * 64);
  }
  return image;
}

struct Entry {
  bool ptx;
  int sm;
  char suffix = 0;
};

std::string Fatbin(const std::vector<Entry>& entries) {
  std::string body;
  for (const Entry& entry : entries) {
    const std::string code =
        entry.ptx ? Ptx("sm_" + std::to_string(entry.sm), {"kp_test_add"}) + '\0' : Cubin(entry.sm, {"kp_test_add"});
    std::string header(64, '\0');
    Put<uint16_t>(&header, 0, entry.ptx ? 1 : 2);
    Put<uint32_t>(&header, 4, 64);
    Put<uint64_t>(&header, 8, code.size());
    Put<uint32_t>(&header, 28, static_cast<uint32_t>(entry.sm));
    Put<uint64_t>(&header, 40, entry.suffix == 'a' ? 0x100011 : entry.suffix == 'f' ? 0x1200011 : 0x11);
    body += header + code;
  }
  std::string image(16, '\0');
  Put<uint32_t>(&image, 0, 0xba55ed50);
  Put<uint16_t>(&image, 4, 1);
  Put<uint16_t>(&image, 6, 16);
  Put<uint64_t>(&image, 8, body.size());
  return image + body;
}

std::string Archs(const std::string& image, const std::string& format = "") {
  Image read;
  std::string why;
  if (!ReadImage(image, format, &read, &why)) return "refused: " + why;
  std::string text;
  for (const Arch& arch : read.archs) text += (text.empty() ? "" : " ") + arch.text();
  return text;
}

TEST(CudaImage, SaysWhatItIsFor) {
  EXPECT_EQ(Archs(Cubin(90, {})), "sm_90");
  EXPECT_EQ(Archs(Cubin(86, {}, 7)), "sm_86");
  EXPECT_EQ(Archs(Fatbin({{false, 80}, {false, 90, 'a'}, {true, 90}})), "sm_80 sm_90a compute_90");
  EXPECT_EQ(Archs(Fatbin({{false, 100, 'f'}})), "sm_100f");
  EXPECT_EQ(Archs(Ptx("sm_100a", {})), "compute_100a");
  EXPECT_EQ(Archs(Ptx("sm_75, texmode_independent", {})), "compute_75");
}

TEST(CudaImage, RunsWhereItSays) {
  const auto runs = [](int number, char suffix, bool ptx, int major, int minor) {
    return Arch{number, suffix, ptx}.RunsOn(major * 10 + minor);
  };
  EXPECT_TRUE(runs(80, 0, false, 8, 0));
  EXPECT_TRUE(runs(80, 0, false, 8, 6));
  EXPECT_FALSE(runs(86, 0, false, 8, 0));
  EXPECT_FALSE(runs(80, 0, false, 9, 0));
  EXPECT_TRUE(runs(80, 0, true, 9, 0));
  EXPECT_FALSE(runs(90, 0, true, 8, 9));
  EXPECT_TRUE(runs(90, 'a', false, 9, 0));
  EXPECT_FALSE(runs(90, 'a', true, 10, 0));
  EXPECT_TRUE(runs(100, 'f', false, 10, 3));
  EXPECT_FALSE(runs(100, 'f', false, 12, 0));
}

TEST(CudaImage, WhatIsNoneIsRefused) {
  EXPECT_SAYS(Archs(""), "the image is empty");
  EXPECT_SAYS(Archs("hello"), "expected a cubin, a fatbin or PTX, got an unrecognised image");
  EXPECT_SAYS(Archs("hello", "cubin"), "expected cubin, got an image in another format");
  EXPECT_SAYS(Archs("hello", "spv"), "unknown format 'spv'; expected cubin, fatbin, ptx or cu");
  EXPECT_SAYS(Archs(Ptx("x", {}).substr(0, 12), "ptx"), "text without a .target sm_... line");
  EXPECT_SAYS(Archs(".target sm_", "ptx"), "names no architecture");
  std::string foreign = Cubin(90, {});
  Put<uint16_t>(&foreign, 18, 62);
  EXPECT_SAYS(Archs(foreign), "got another kind of ELF file");
}

// Any beginning of any image is refused or read, never a crash; the same with each byte changed.
TEST(CudaImage, CutOffOrChangedIsRefused) {
  for (const std::string& image : {Cubin(90, {"kp_test_scale", "kp_test_add"}), Fatbin({{false, 80}, {true, 90}})}) {
    for (size_t size = 0; size < image.size(); ++size) {
      EXPECT_SAYS(Archs(image.substr(0, size)), "refused: ") << size;
    }
    for (size_t i = 0; i < image.size(); ++i) {
      std::string changed = image;
      for (const char byte : {'\0', '\x7f', '\xff'}) {
        changed[i] = byte;
        Archs(changed);
      }
    }
  }
}

using Codes = FakeDriver;

TEST_F(Codes, MustBeForTheDevicesArchitecture) {
  const auto load = [&](const std::string& image, int32_t id) {
    void* code = nullptr;
    const int result = cuda_.load_code(&cuda_, Cuda(id), B(image), B(""), B(""), &code);
    if (result == 0) Unload(code, id);
    return result;
  };
  EXPECT_EQ(load(Fatbin({{false, 90}, {true, 90}}), 0), 0) << TakeError();
  EXPECT_EQ(load(Cubin(80, {"kp_test_add"}), 1), -1);
  EXPECT_SAYS(TakeError(), "the emulated device runs PTX, and this image has machine code only");
  EXPECT_EQ(load(Fatbin({{false, 75}, {true, 75}}), 1), 0) << TakeError();
  EXPECT_EQ(load(Cubin(90, {}), 1), -1);
  EXPECT_EQ(TakeError(),
            "RuntimeError: cuda:1: the code is for sm_90, and the device is sm_80; build it with -arch=sm_80, or "
            "add PTX for an older architecture, which the driver compiles");
  EXPECT_EQ(load(Fatbin({{false, 75}, {false, 90, 'a'}, {true, 90}}), 1), -1);
  EXPECT_SAYS(TakeError(), "the code is for sm_75, sm_90a, compute_90, and");
  EXPECT_EQ(kernpack_emulator_calls("cuModuleLoadDataEx"), 3) << "the driver was asked about the wrong ones";
}

TEST_F(Codes, TheCompilersLogIsInTheError) {
  void* code = nullptr;
  const std::string ptx = Ptx("sm_80", {}) + "this is no PTX";
  EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(ptx), B("ptx"), B(""), &code), -1);
  const std::string error = TakeError();
  EXPECT_SAYS(
      error,
      "cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed, while "
      "loading code; its log:\nemulator: PTX line 4: expected a directive such as .entry or .global, got 'this'");
  kernpack_emulator_fail("cuModuleLoadDataEx", kUnsupportedPtxVersion, 0, 1);
  const std::string good = Ptx("sm_80", {});
  EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(good), B("ptx"), B(""), &code), -1);
  EXPECT_SAYS(TakeError(), "the PTX was made by a newer toolkit than the driver knows");
}

class CodesOnAnOlderDriver : public FakeDriver {
  void Configure() override { kernpack_emulator_set("driver_version", 12080); }
};

// The PTX version that NVRTC of CUDA 13.5 writes, whatever its options.
TEST_F(CodesOnAnOlderDriver, PtxOfANewerToolkitNamesBoth) {
  void* code = nullptr;
  for (const auto& [version, cuda] : {std::pair("9.5", "13.5"), std::pair("8.8", "12.9")}) {
    std::string ptx = Ptx("sm_80", {"kp_test_add"});
    const size_t at = ptx.find(".version ") + 9;
    ptx.replace(at, 3, version);
    EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(ptx), B("ptx"), B(""), &code), -1);
    const std::string error = TakeError();
    EXPECT_SAYS(error, std::string("loading PTX of version ") + version + ", which drivers of CUDA " + cuda +
                           " and newer take; this one's is CUDA 12.8");
    EXPECT_SAYS(error, "update the driver, build with the NVRTC or nvcc of its CUDA");
  }
  std::string taken = Ptx("sm_80", {"kp_test_add"});
  taken.replace(taken.find(".version ") + 9, 3, "8.7");
  ASSERT_EQ(cuda_.load_code(&cuda_, Cuda(), B(taken), B("ptx"), B(""), &code), 0) << TakeError();
  Unload(code);
}

TEST_F(Codes, TextNeedNotEndInNul) {
  const std::string ptx = Ptx("sm_80", {"kp_test_add"});
  const std::vector<char> exact(ptx.begin(), ptx.end());
  void* code = nullptr;
  ASSERT_EQ(cuda_.load_code(&cuda_, Cuda(), KpBytes{exact.data(), exact.size()}, B("ptx"), B(""), &code), 0)
      << TakeError();
  GetKernel(code, "kp_test_add");
  Unload(code);
}

TEST_F(Codes, OptionsAreRefused) {
  void* code = nullptr;
  const std::string ptx = Ptx("sm_80", {});
  EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(ptx), B("ptx"), B("-O3"), &code), -1);
  EXPECT_SAYS(TakeError(), "expected no options, got '-O3'");
}

TEST_F(Codes, AnUnknownKernelListsTheOthers) {
  void* kernel = nullptr;
  void* text = Load(Ptx("sm_80", {"kp_test_add", "kp_test_scale"}));
  EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(), text, B("scale"), &kernel), -1);
  EXPECT_EQ(TakeError(),
            "AttributeError: cuda:0: the code has no kernel 'scale', only kp_test_add, kp_test_scale; C++ kernels "
            "keep their name when declared extern \"C\"");
  Unload(text);
  const std::string fatbin = Fatbin({{false, 90}, {true, 80}});
  void* code = nullptr;
  ASSERT_EQ(cuda_.load_code(&cuda_, Cuda(), B(fatbin), B("fatbin"), B(""), &code), 0) << TakeError();
  EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(), code, B("scale"), &kernel), -1);
  EXPECT_SAYS(TakeError(), "'scale', only kp_test_add;");
  EXPECT_EQ(GetKernel(code, "kp_test_add"), GetKernel(code, "kp_test_add")) << "one a name";
  kernpack_emulator_fail("cuModuleGetFunction", kUnknown, 0, 1);
  EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(), code, B("other"), &kernel), -1);
  EXPECT_SAYS(TakeError(), "while looking for the kernel other");
  Unload(code);
}

TEST_F(Codes, OfAnotherDeviceOrNoneAreRefused) {
  void* code = Load(Ptx("sm_80", {"kp_test_scale"}));
  void* kernel = nullptr;
  EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(1), code, B("kp_test_scale"), &kernel), -1);
  EXPECT_SAYS(TakeError(), "cuda:1: the code was loaded on cuda:0; load it on each device that runs it");
  EXPECT_EQ(cuda_.unload_code(&cuda_, Cuda(1), code), -1);
  TakeError();
  EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(), nullptr, B("x"), &kernel), -1);
  EXPECT_SAYS(TakeError(), "expected loaded code, got NULL");
  EXPECT_EQ(cuda_.unload_code(&cuda_, Cuda(), nullptr), 0);
  Unload(code);
}

// As nvcc 13 writes it unless told not to: 80 bytes of header, and PTX compressed by zstd, padded.
std::string CompressedFatbin(const std::string& packed, size_t bytes, uint64_t flags = 0x8011) {
  std::string header(80, '\0');
  const std::string padded = packed + std::string(5, '\0');
  Put<uint16_t>(&header, 0, 1);
  Put<uint32_t>(&header, 4, 80);
  Put<uint64_t>(&header, 8, padded.size());
  Put<uint32_t>(&header, 16, static_cast<uint32_t>(packed.size()));
  Put<uint32_t>(&header, 28, 80);
  Put<uint64_t>(&header, 40, flags);
  Put<uint64_t>(&header, 56, bytes);
  std::string image(16, '\0');
  Put<uint32_t>(&image, 0, 0xba55ed50);
  Put<uint16_t>(&image, 4, 1);
  Put<uint16_t>(&image, 6, 16);
  Put<uint64_t>(&image, 8, header.size() + padded.size());
  return image + header + padded;
}

// As nvcc before CUDA 13 does, and --compress-mode=speed.
TEST_F(Codes, PtxCompressedByLz4IsUnpacked) {
  void* const library = dlopen("liblz4.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "there is no liblz4.so.1";
  const auto compress = reinterpret_cast<int (*)(const char*, char*, int, int)>(dlsym(library, "LZ4_compress_default"));
  const std::string ptx = Ptx("sm_80", {"kp_test_add"}) + '\0';
  std::string packed(ptx.size() + 1024, '\0');
  packed.resize(static_cast<size_t>(
      compress(ptx.data(), packed.data(), static_cast<int>(ptx.size()), static_cast<int>(packed.size()))));
  const std::string good = CompressedFatbin(packed, ptx.size(), 0x2011);
  void* code = nullptr;
  ASSERT_EQ(cuda_.load_code(&cuda_, Cuda(), B(good), B("fatbin"), B(""), &code), 0) << TakeError();
  GetKernel(code, "kp_test_add");
  Unload(code);
  const std::string bad = CompressedFatbin(packed.substr(0, 40), ptx.size(), 0x2011);
  EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(bad), B("fatbin"), B(""), &code), -1);
  EXPECT_SAYS(TakeError(), "the compressed PTX in this fatbin is damaged");
}

TEST_F(Codes, CompressedPtxIsUnpacked) {
  void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  const std::string ptx = Ptx("sm_80", {"kp_test_add"}) + '\0';
  void* code = nullptr;
  if (library == nullptr) {
    const std::string any = CompressedFatbin("packed", 6);
    EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(any), B("fatbin"), B(""), &code), -1);
    EXPECT_SAYS(TakeError(),
                "libzstd.so.1, which unpacks it, isn't installed; install it, or build with nvcc -no-compress");
    return;
  }
  const auto compress =
      reinterpret_cast<size_t (*)(void*, size_t, const void*, size_t, int)>(dlsym(library, "ZSTD_compress"));
  std::string packed(ptx.size() + 1024, '\0');
  packed.resize(compress(packed.data(), packed.size(), ptx.data(), ptx.size(), 3));
  const std::string good = CompressedFatbin(packed, ptx.size());
  ASSERT_EQ(cuda_.load_code(&cuda_, Cuda(), B(good), B("fatbin"), B(""), &code), 0) << TakeError();
  GetKernel(code, "kp_test_add");
  Unload(code);
  for (const std::string& bad : {CompressedFatbin(packed, ptx.size() + 1), CompressedFatbin(packed, uint64_t{1} << 40),
                                 CompressedFatbin(packed.substr(0, 40), ptx.size()), CompressedFatbin("", 0)}) {
    EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(), B(bad), B("fatbin"), B(""), &code), -1);
    EXPECT_SAYS(TakeError(), "the compressed PTX in this fatbin is damaged");
  }
}

}  // namespace
}  // namespace kernpack::cuda
