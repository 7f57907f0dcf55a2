// Global functions, object types, extensions, and the table itself.
#include "support.h"

#include <set>
#include <thread>

namespace kernpack_test {
namespace {

class RegistryTest : public HostTest {
 protected:
  static Value NewFunction() {
    Value function;
    const auto call = [](void*, const KpAny*, int32_t n, KpAny* result) {
      *result = Int(n);
      return 0;
    };
    EXPECT_EQ(kp_function_new(nullptr, call, nullptr, function.out()), 0);
    return function;
  }
};

TEST_F(RegistryTest, TheTableIsComplete) {
  EXPECT_EQ(host->struct_size, sizeof(KpHost));
  EXPECT_EQ(host->abi_version, KP_ABI_VERSION);
#define KP_CHECK_ENTRY(version, name, parameters) EXPECT_NE(host->name, nullptr);
  KP_HOST_SERVICES(KP_CHECK_ENTRY)
#undef KP_CHECK_ENTRY
  EXPECT_EQ(kp_host(), host);
  EXPECT_EQ(std::string(kp_version()).find_first_not_of("0123456789.abdevrcpost+"), std::string::npos);
}

TEST_F(RegistryTest, GlobalFunctionsAreFoundUntilRemoved) {
  Value function = NewFunction();
  const KpBytes name = kp_bytes("registry_test.f");
  Value got;
  ASSERT_EQ(host->global_get(host, name, got.out()), 0);
  EXPECT_EQ(got->type_index, KP_TYPE_NONE);
  ASSERT_EQ(host->global_set(host, name, function.object(), 0), 0);
  ASSERT_EQ(host->global_get(host, name, got.out()), 0);
  EXPECT_EQ(got.object(), function.object());
  EXPECT_EQ(host->global_set(host, name, function.object(), 0), -1);
  EXPECT_EQ(TakeError().find("ValueError: global_set: a function named 'registry_test.f' exists already"), 0u);
  Value other = NewFunction();
  ASSERT_EQ(host->global_set(host, name, other.object(), 1), 0);
  ASSERT_EQ(host->global_get(host, name, got.out()), 0);
  EXPECT_EQ(got.object(), other.object());
  Value names;
  ASSERT_EQ(kp_global_names(names.out()), 0);
  bool listed = false;
  const auto* array = reinterpret_cast<KpSequenceObject*>(names.object());
  for (int64_t i = 0; i < array->size; ++i) listed |= Str(array->data[i]) == "registry_test.f";
  EXPECT_TRUE(listed);
  ASSERT_EQ(kp_global_remove(name), 0);
  EXPECT_EQ(kp_global_remove(name), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_global_remove: no function named 'registry_test.f'");
}

TEST_F(RegistryTest, GlobalSetRefusesWhatIsNoFunction) {
  EXPECT_EQ(host->global_set(host, kp_bytes("x"), nullptr, 0), -1);
  EXPECT_EQ(TakeError(), "TypeError: global_set: 'x': expected a Function, got NULL");
  Value function = NewFunction();
  EXPECT_EQ(host->global_set(host, KpBytes{}, function.object(), 0), -1);
  EXPECT_EQ(TakeError(), "ValueError: global_set: the name is empty");
}

TEST_F(RegistryTest, TypeIndicesStartAtOursAndStay) {
  int32_t first = 0;
  int32_t again = 0;
  int32_t second = 0;
  ASSERT_EQ(host->type_index(host, kp_bytes("registry_test.Plan"), &first), 0);
  ASSERT_EQ(host->type_index(host, kp_bytes("registry_test.Plan2"), &second), 0);
  ASSERT_EQ(host->type_index(host, kp_bytes("registry_test.Plan"), &again), 0);
  EXPECT_GE(first, KP_TYPE_DYNAMIC_OURS);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  EXPECT_STREQ(kp_type_name(first), "registry_test.Plan");
  Value opaque;
  ASSERT_EQ(kp_opaque_new(nullptr, first, nullptr, opaque.out()), 0);
  EXPECT_EQ(opaque->type_index, first);
  EXPECT_EQ(host->type_index(host, KpBytes{}, &first), -1);
  EXPECT_EQ(TakeError(), "ValueError: type_index: the type key is empty; expected \"my_pkg.Type\"");
}

TEST_F(RegistryTest, TypeIndicesFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::set<int32_t>> seen(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        int32_t index = 0;
        const std::string key = "registry_test.T" + std::to_string(i);
        host->type_index(host, AsBytes(key), &index);
        if (key == kp_type_name(index)) seen[t].insert(index);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen[0].size(), 200u);
  for (int t = 1; t < 8; ++t) EXPECT_EQ(seen[t], seen[0]);
}

TEST_F(RegistryTest, ExtensionsAreFoundByNameAndVersion) {
  static const int table = 0;
  static const int other = 0;
  const KpBytes name = kp_bytes("registry_test.ext");
  const void* got = &got;
  ASSERT_EQ(host->get_extension(host, name, 1, &got), 0);
  EXPECT_EQ(got, nullptr);
  ASSERT_EQ(kp_extension_register(name, 1, &table), 0);
  ASSERT_EQ(kp_extension_register(name, 1, &table), 0) << "the same again is no change";
  ASSERT_EQ(host->get_extension(host, name, 1, &got), 0);
  EXPECT_EQ(got, &table);
  ASSERT_EQ(host->get_extension(host, name, 2, &got), 0);
  EXPECT_EQ(got, nullptr);
  EXPECT_EQ(kp_extension_register(name, 1, &other), -1);
  EXPECT_EQ(
      TakeError(),
      "ValueError: kp_extension_register: 'registry_test.ext' version 1 is registered already with another table");
  EXPECT_EQ(kp_extension_register(name, 1, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_extension_register: expected a name and a table, got a NULL table");
}

}  // namespace
}  // namespace kernpack_test
