// Names of dtypes and devices, in every framework's spelling.
#include "support.h"

namespace kernpack_test {
namespace {

class NamesTest : public HostTest {
 protected:
  static std::string Dtype(const char* name) {
    KpDLDataType dtype{};
    return kp_dtype_from_name(kp_bytes(name), &dtype) == 0 ? kp_dtype_name(dtype) : TakeError();
  }
  static std::string Device(const char* name) {
    KpDLDevice device{};
    if (kp_device_from_name(kp_bytes(name), &device) != 0) return TakeError();
    return std::string(kp_device_type_name(device.device_type)) + ":" + std::to_string(device.device_id);
  }
};

TEST_F(NamesTest, CanonicalNamesComeBack) {
  const char* names[] = {"bool",      "i8",          "i16",     "i32",         "i64",        "u8",
                         "u16",       "u32",         "u64",     "f16",         "bf16",       "f32",
                         "f64",       "c64",         "c128",    "f8_e3m4",     "f8_e4m3",    "f8_e4m3b11fnuz",
                         "f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz", "f8_e8m0fnu", "f6_e2m3fn",
                         "f6_e3m2fn", "f4_e2m1fn",   "i4",      "u4",          "i2",         "u2",
                         "c32",       "f32x4",       "u8x16"};
  for (const char* name : names) EXPECT_EQ(Dtype(name), name);
}

TEST_F(NamesTest, FrameworkSpellingsAreDtypes) {
  const std::pair<const char*, const char*> pairs[] = {
      {"float32", "f32"},
      {"torch.float32", "f32"},
      {"torch.float", "f32"},
      {"torch.long", "i64"},
      {"torch.int", "i32"},
      {"torch.half", "f16"},
      {"double", "f64"},
      {"numpy.uint16", "u16"},
      {"np.bool_", "bool"},
      {"jax.numpy.bfloat16", "bf16"},
      {"jnp.int4", "i4"},
      {"bfloat16", "bf16"},
      {"<f4", "f32"},
      {"<i8", "i64"},
      {"|b1", "bool"},
      {"|u1", "u8"},
      {"=f8", "f64"},
      {"<c16", "c128"},
      {"<f2", "f16"},
      {"float8_e4m3fn", "f8_e4m3fn"},
      {"complex64", "c64"},
      {"ml_dtypes.float8_e5m2", "f8_e5m2"},
      {"torch.float4_e2m1fn_x2", "f4_e2m1fnx2"},
      {"torch.cfloat", "c64"},
      {"float32x4", "f32x4"},
      {"i8", "i8"},
      {"torch.uint8", "u8"},
  };
  for (const auto& [name, wanted] : pairs) EXPECT_EQ(Dtype(name), wanted) << name;
}

TEST_F(NamesTest, UnknownDtypesAreValueErrors) {
  for (const char* name : {"", "float", "int", "f4", "f8", "float31", "F32", "torch.", "torch.dtype", "<f3", "<", "<V2",
                           "x4", "f32x", "f32x0x", "O", "object", "datetime64[ns]"}) {
    EXPECT_EQ(Dtype(name).find("ValueError: unknown dtype '" + std::string(name) + "'"), 0u)
        << name << " gave " << Dtype(name);
  }
  EXPECT_EQ(Dtype(">f4").find("ValueError: dtype '>f4' is big-endian"), 0u);
  EXPECT_EQ(Dtype("f32x70000").find("ValueError: dtype 'f32x70000': lanes must be 1 to 65535"), 0u);
  EXPECT_EQ(Dtype("f32x0").find("ValueError: dtype 'f32x0': lanes"), 0u);
  const std::string huge(100000, 'z');
  EXPECT_LT(Dtype(huge.c_str()).size(), 500u) << "a long name is cut in the message";
}

TEST_F(NamesTest, EveryDtypeHasANameThatStays) {
  EXPECT_STREQ(kp_dtype_name({KP_DTYPE_INT, 3, 1}), "i3");
  EXPECT_STREQ(kp_dtype_name({KP_DTYPE_UINT, 24, 2}), "u24x2");
  EXPECT_STREQ(kp_dtype_name({99, 8, 1}), "dtype(code=99, bits=8, lanes=1)");
  EXPECT_STREQ(kp_dtype_name({KP_DTYPE_FLOAT, 32, 0}), "f32x0");
  EXPECT_EQ(kp_dtype_name({KP_DTYPE_INT, 3, 1}), kp_dtype_name({KP_DTYPE_INT, 3, 1})) << "interned";
}

TEST_F(NamesTest, DevicesAreFoundByEveryName) {
  const std::pair<const char*, const char*> pairs[] = {
      {"cpu", "cpu:0"},      {"cuda", "cuda:0"},   {"cuda:1", "cuda:1"},
      {"gpu:3", "cuda:3"},   {"hip:0", "rocm:0"},  {"mps", "metal:0"},
      {"xpu:2", "oneapi:2"}, {"trn:15", "trn:15"}, {"cuda_managed", "cuda_managed:0"}};
  for (const auto& [name, wanted] : pairs) EXPECT_EQ(Device(name), wanted) << name;
  EXPECT_EQ(Device("tpu").find("ValueError: unknown device 'tpu'"), 0u);
  EXPECT_EQ(Device("").find("ValueError: unknown device ''"), 0u);
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1:2", "cuda:99999999999", "cuda: 1"}) {
    EXPECT_EQ(Device(name).find("ValueError: device '" + std::string(name) + "': expected a number"), 0u)
        << Device(name);
  }
}

TEST_F(NamesTest, UnknownDeviceTypesHaveAName) {
  EXPECT_STREQ(kp_device_type_name(99), "device_type(99)");
  EXPECT_STREQ(kp_device_type_name(-1), "device_type(-1)");
  EXPECT_EQ(kp_device_type_name(99), kp_device_type_name(99)) << "interned";
}

}  // namespace
}  // namespace kernpack_test
