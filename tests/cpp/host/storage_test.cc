// Keyed storage: scopes, sharing, single flight, statistics.
#include "support.h"

#include <atomic>
#include <thread>

namespace kernpack_test {
namespace {

constexpr KpDLDevice kCuda0{KP_DEVICE_CUDA, 0};
constexpr KpDLDevice kCuda1{KP_DEVICE_CUDA, 1};

class StorageTest : public HostTest {
 protected:
  void TearDown() override {
    for (const KpStorageKey& key : used_) {
      int32_t erased = 0;
      host->storage_erase(host, &key, &erased);
    }
    HostTest::TearDown();
  }
  const KpStorageKey& Used(const KpStorageKey& key) {
    used_.push_back(key);
    return used_.back();
  }
  void Set(const KpStorageKey& key, int64_t value) {
    const KpAny any = Int(value);
    ASSERT_EQ(host->storage_set(host, &Used(key), &any), 0);
  }
  std::string Get(const KpStorageKey& key) {
    Value value;
    int32_t found = 7;
    EXPECT_EQ(host->storage_get(host, &key, value.out(), &found), 0);
    return found ? std::to_string(value->v.v_int) : "absent";
  }

 private:
  std::vector<KpStorageKey> used_;
};

TEST_F(StorageTest, SetGetReplaceErase) {
  const KpStorageKey key = Key("m", "k");
  EXPECT_EQ(Get(key), "absent");
  Set(key, 1);
  EXPECT_EQ(Get(key), "1");
  Set(key, 2);
  EXPECT_EQ(Get(key), "2");
  int32_t erased = 0;
  ASSERT_EQ(host->storage_erase(host, &key, &erased), 0);
  EXPECT_EQ(erased, 1);
  ASSERT_EQ(host->storage_erase(host, &key, &erased), 0);
  EXPECT_EQ(erased, 0);
  EXPECT_EQ(Get(key), "absent");
}

TEST_F(StorageTest, KeysOfModulesScopesDevicesAndStreamsDoNotMeet) {
  int stream = 0;
  const KpStorageKey keys[] = {
      Key("a", "k"),
      Key("b", "k"),
      Key("ak", "x"),
      Key("a", "kx"),
      Key("a", "k", KP_SCOPE_DEVICE, kCuda0),
      Key("a", "k", KP_SCOPE_DEVICE, kCuda1),
      Key("a", "k", KP_SCOPE_STREAM, kCuda0, nullptr),
      Key("a", "k", KP_SCOPE_STREAM, kCuda0, &stream),
      Key("a", "::k"),
  };
  for (int i = 0; i < 9; ++i) Set(keys[i], i);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(Get(keys[i]), std::to_string(i));
}

TEST_F(StorageTest, AScopeReadsOnlyWhatIsItsOwn) {
  int stream = 0;
  Set(Key("m", "process", KP_SCOPE_PROCESS, kCuda0, &stream), 1);
  EXPECT_EQ(Get(Key("m", "process")), "1");
  Set(Key("m", "device", KP_SCOPE_DEVICE, kCuda0, &stream), 2);
  EXPECT_EQ(Get(Key("m", "device", KP_SCOPE_DEVICE, kCuda0)), "2");
}

TEST_F(StorageTest, TwoColonsShareBetweenModules) {
  Set(Key("a", "::shared"), 5);
  EXPECT_EQ(Get(Key("b", "::shared")), "5");
}

TEST_F(StorageTest, ObjectsAreSharedNotCopied) {
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  const KpStorageKey key = Used(Key("m", "object"));
  ASSERT_EQ(host->storage_set(host, &key, &shape.get()), 0);
  Value got;
  int32_t found = 0;
  ASSERT_EQ(host->storage_get(host, &key, got.out(), &found), 0);
  EXPECT_EQ(got.object(), shape.object());
}

TEST_F(StorageTest, BadKeysAreValueErrors) {
  KpAny out;
  int32_t found = 0;
  KpStorageKey key = Key("m", "");
  EXPECT_EQ(host->storage_get(host, &key, &out, &found), -1);
  EXPECT_EQ(TakeError(), "ValueError: storage_get: the key is empty");
  key = Key("m", "k", 3);
  EXPECT_EQ(host->storage_get(host, &key, &out, &found), -1);
  EXPECT_EQ(TakeError(), "ValueError: storage_get: scope is 3; expected 0 (process), 1 (device) or 2 (stream)");
  key = Key("m", "k");
  key.reserved = 1;
  EXPECT_EQ(host->storage_set(host, &key, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: storage_set: reserved field of the key is 1; expected 0");
  EXPECT_EQ(host->storage_erase(host, nullptr, &found), -1);
  EXPECT_EQ(TakeError(), "ValueError: storage_erase: the key is NULL");
  key = Key("m", "k");
  EXPECT_EQ(host->storage_get_or_init(host, &key, nullptr, nullptr, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: storage_get_or_init: the factory is NULL");
}

TEST_F(StorageTest, ABorrowedTensorCannotBeStored) {
  KpDLTensor tensor{};
  KpAny borrowed = kp_none();
  borrowed.type_index = KP_TYPE_DLTENSOR_PTR;
  borrowed.v.v_tensor = &tensor;
  const KpStorageKey key = Key("m", "borrowed");
  EXPECT_EQ(host->storage_set(host, &key, &borrowed), -1);
  EXPECT_NE(TakeError().find("TypeError: a borrowed tensor"), std::string::npos);
  KpAny out;
  const auto factory = [](void* context, KpAny* made) {
    made->type_index = KP_TYPE_DLTENSOR_PTR;
    made->v.v_ptr = context;
    return 0;
  };
  EXPECT_EQ(host->storage_get_or_init(host, &key, factory, &tensor, &out), -1);
  EXPECT_NE(TakeError().find("TypeError: a borrowed tensor"), std::string::npos);
  EXPECT_EQ(Get(key), "absent");
}

TEST_F(StorageTest, ListIsSortedAndOfOneModuleAndScope) {
  Set(Key("lister", "b"), 1);
  Set(Key("lister", "a long key name"), 1);
  Set(Key("lister", "on device", KP_SCOPE_DEVICE, kCuda0), 1);
  Set(Key("other", "c"), 1);
  Value list;
  const KpStorageKey wanted = Key("lister", "");
  ASSERT_EQ(host->storage_list(host, &wanted, list.out()), 0);
  const auto* array = reinterpret_cast<KpSequenceObject*>(list.object());
  ASSERT_EQ(array->size, 2);
  EXPECT_EQ(Str(array->data[0]), "a long key name");
  EXPECT_EQ(Str(array->data[1]), "b");
}

TEST_F(StorageTest, OneFactoryRunUnderContention) {
  for (int round = 0; round < 50; ++round) {
    const std::string name = "flight" + std::to_string(round);
    const KpStorageKey key = Key("m", name.c_str());
    std::atomic<int> runs{0};
    std::atomic<int> ready{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 8) std::this_thread::yield();
        Value value;
        const auto factory = [](void* context, KpAny* made) {
          const int run = ++*static_cast<std::atomic<int>*>(context);
          std::this_thread::yield();
          *made = Int(run);
          return 0;
        };
        if (host->storage_get_or_init(host, &key, factory, &runs, value.out()) != 0 || value->v.v_int != 1) ++wrong;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(wrong, 0);
    int32_t erased = 0;
    host->storage_erase(host, &key, &erased);
  }
}

TEST_F(StorageTest, AFailingFactoryStoresNothingAndTheNextOneRuns) {
  const KpStorageKey key = Key("m", "failing");
  std::atomic<int> runs{0};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      KpAny out;
      const auto factory = [](void* context, KpAny*) {
        ++*static_cast<std::atomic<int>*>(context);
        return kp_raise("ValueError", "no luck");
      };
      if (host->storage_get_or_init(host, &key, factory, &runs, &out) == -1 && TakeError() == "ValueError: no luck")
        ++failures;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(runs, 8);
  EXPECT_EQ(failures, 8);
  EXPECT_EQ(Get(key), "absent");
}

TEST_F(StorageTest, AThrowingFactoryIsAnErrorAndReleasesTheKey) {
  const KpStorageKey key = Used(Key("m", "throwing"));
  KpAny out;
  EXPECT_EQ(host->storage_get_or_init(host, &key, [](void*, KpAny*) -> int { throw 42; }, nullptr, &out), -1);
  EXPECT_EQ(TakeError().find("InternalError: storage_get_or_init"), 0u);
  Value value;
  const auto good = [](void*, KpAny* made) {
    *made = Int(3);
    return 0;
  };
  ASSERT_EQ(host->storage_get_or_init(host, &key, good, nullptr, value.out()), 0);
  EXPECT_EQ(value->v.v_int, 3);
}

int AskForOwnKey(void* context, KpAny* out) {
  const KpHost* host = kp_host();
  return host->storage_get_or_init(host, static_cast<const KpStorageKey*>(context), AskForOwnKey, context, out);
}

TEST_F(StorageTest, AFactoryThatAsksForItsOwnKeyGetsAnError) {
  KpStorageKey key = Key("m", "recursive");
  KpAny out;
  EXPECT_EQ(host->storage_get_or_init(host, &key, AskForOwnKey, &key, &out), -1);
  EXPECT_EQ(TakeError().find("RuntimeError: storage_get_or_init: key 'recursive'"), 0u);
}

TEST_F(StorageTest, AFactoryMayAskForOtherKeys) {
  KpStorageKey inner = Used(Key("m", "inner"));
  const KpStorageKey outer = Used(Key("m", "outer"));
  const auto factory = [](void* context, KpAny* out) {
    const auto make = [](void*, KpAny* made) {
      *made = Int(20);
      return 0;
    };
    if (kp_host()->storage_get_or_init(kp_host(), static_cast<KpStorageKey*>(context), make, nullptr, out) != 0)
      return -1;
    out->v.v_int += 1;
    return 0;
  };
  Value value;
  ASSERT_EQ(host->storage_get_or_init(host, &outer, factory, &inner, value.out()), 0);
  EXPECT_EQ(value->v.v_int, 21);
  EXPECT_EQ(Get(inner), "20");
}

// Two threads at once, each making the value of one of two keys by a factory that asks for the other's, with `leaf` to make it.
// What it asks for is known only once both factories run. at_end(t, rc, value) is called in thread t.
template <class AtEnd>
void MakeInACircle(const KpStorageKey (&keys)[2], KpStorageFactory leaf, AtEnd at_end) {
  struct Step {
    KpStorageKey other;
    KpStorageFactory leaf;
    std::atomic<int>* inside;
  };
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Step step{keys[1 - t], leaf, &inside};
      const auto factory = [](void* context, KpAny* out) {
        auto* own = static_cast<Step*>(context);
        ++*own->inside;
        while (*own->inside < 2) std::this_thread::yield();
        return kp_host()->storage_get_or_init(kp_host(), &own->other, own->leaf, &own->other, out);
      };
      Value value;
      const int rc = kp_host()->storage_get_or_init(kp_host(), &keys[t], factory, &step, value.out());
      at_end(t, rc, value);
    });
  }
  for (auto& thread : threads) thread.join();
}

// The outcome is the outcome with one thread first.
TEST_F(StorageTest, FactoriesThatAskForEachOthersKeysGiveOneValueEach) {
  const KpStorageKey keys[] = {Used(Key("m", "circle0")), Used(Key("m", "circle1"))};
  const auto one = [](void*, KpAny* made) {
    *made = Int(1);
    return 0;
  };
  std::atomic<int> errors{0};
  int64_t values[2] = {};
  MakeInACircle(keys, one, [&](int t, int rc, const Value& value) {
    if (rc != 0) ++errors;
    values[t] = value->v.v_int;
  });
  EXPECT_EQ(errors, 0) << TakeError();
  for (int t = 0; t < 2; ++t) {
    EXPECT_EQ(values[t], 1);
    EXPECT_EQ(Get(keys[t]), "1");
  }
}

// A circle in which the value is made once more must still see that a factory asks for its own key.
TEST_F(StorageTest, AFactoryThatOvertakesMayNotAskForItsOwnKey) {
  const KpStorageKey keys[] = {Used(Key("m", "over0")), Used(Key("m", "over1"))};
  std::atomic<int> errors{0};
  MakeInACircle(keys, AskForOwnKey, [&](int, int rc, const Value&) {
    if (rc != 0 && TakeError().find("its factory requests its own key") != std::string::npos) ++errors;
  });
  EXPECT_EQ(errors, 2);
}

bool g_pressed = false;

// The embedder says that Ctrl-C was pressed: who waits for another thread's factory hears it.
TEST_F(StorageTest, WaitingForAFactoryHearsCtrlC) {
  const KpStorageKey key = Used(Key("m", "slow"));
  std::atomic<bool> started{false}, release{false};
  struct Flags {
    std::atomic<bool>&started, &release;
  } flags{started, release};
  std::thread maker([&] {
    const auto factory = [](void* context, KpAny* out) {
      auto* flags = static_cast<Flags*>(context);
      flags->started = true;
      while (!flags->release) std::this_thread::yield();
      *out = Int(1);
      return 0;
    };
    Value value;
    EXPECT_EQ(host->storage_get_or_init(host, &key, factory, &flags, value.out()), 0);
  });
  while (!started) std::this_thread::yield();
  g_pressed = true;
  kp_set_interrupt_check([] { return g_pressed ? 1 : 0; });
  const auto never = [](void*, KpAny*) { return -1; };
  KpAny out;
  EXPECT_EQ(host->storage_get_or_init(host, &key, never, nullptr, &out), -1);
  EXPECT_NE(TakeError().find("KeyboardInterrupt"), std::string::npos);
  g_pressed = false;
  kp_set_interrupt_check(nullptr);
  release = true;
  maker.join();
}

TEST_F(StorageTest, ReadersAndWritersInParallel) {
  const KpStorageKey key = Used(Key("m", "busy"));
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        Value value;
        int32_t found = 0;
        host->storage_get(host, &key, value.out(), &found);
        if (found && Str(value.get()).size() != 40) ++bad;
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    Value text;
    ASSERT_EQ(kp_string_new(AsBytes(std::string(40, static_cast<char>('a' + i % 26))), text.out()), 0);
    ASSERT_EQ(host->storage_set(host, &key, &text.get()), 0);
    if (i % 3 == 0) {
      int32_t erased = 0;
      host->storage_erase(host, &key, &erased);
    }
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(bad, 0);
}

// A value whose deleter calls back into storage must not meet a held lock.
TEST_F(StorageTest, DeletersMayCallStorage) {
  const KpStorageKey key = Used(Key("m", "deleter"));
  Value opaque;
  int held = 0;
  ASSERT_EQ(kp_opaque_new(
                &held, KP_TYPE_OPAQUE_PY_OBJECT,
                [](void*) {
                  const KpStorageKey inner = Key("m", "deleter");
                  const KpAny value = Int(9);
                  kp_host()->storage_set(kp_host(), &inner, &value);
                },
                opaque.out()),
            0);
  ASSERT_EQ(host->storage_set(host, &key, &opaque.get()), 0);
  opaque = Value();
  int32_t erased = 0;
  ASSERT_EQ(host->storage_erase(host, &key, &erased), 0);
  EXPECT_EQ(Get(key), "9");
}

TEST_F(StorageTest, DeviceResetDropsThatDeviceOnly) {
  int stream = 0;
  Set(Key("m", "process"), 1);
  Set(Key("m", "d0", KP_SCOPE_DEVICE, kCuda0), 2);
  Set(Key("m", "s0", KP_SCOPE_STREAM, kCuda0, &stream), 3);
  Set(Key("m", "d1", KP_SCOPE_DEVICE, kCuda1), 4);
  ASSERT_EQ(kp_storage_reset_device(kCuda0), 0);
  EXPECT_EQ(Get(Key("m", "process")), "1");
  EXPECT_EQ(Get(Key("m", "d0", KP_SCOPE_DEVICE, kCuda0)), "absent");
  EXPECT_EQ(Get(Key("m", "s0", KP_SCOPE_STREAM, kCuda0, &stream)), "absent");
  EXPECT_EQ(Get(Key("m", "d1", KP_SCOPE_DEVICE, kCuda1)), "4");
}

TEST_F(StorageTest, StatsAreJsonWithOneRowAGroup) {
  int64_t shape[] = {10};
  const KpDLTensor prototype{nullptr, {KP_DEVICE_CPU, 0}, 1, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  Value tensor;
  ASSERT_EQ(kp_tensor_new(&prototype, tensor.out()), 0);
  const KpStorageKey key = Used(Key("stats \"quoted\" \xff", "tensor", KP_SCOPE_DEVICE, kCuda1));
  ASSERT_EQ(host->storage_set(host, &key, &tensor.get()), 0);
  Value stats;
  ASSERT_EQ(kp_storage_stats(stats.out()), 0);
  const std::string json = Str(stats.get());
  EXPECT_NE(json.find("\"module\":\"stats \\\"quoted\\\" "
                      "\xef\xbf\xbd\",\"scope\":\"device\",\"device\":\"cuda:1\",\"keys\":1,\"bytes\":40,"
                      "\"workspaces\":0,\"workspace_bytes\":0"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace kernpack_test
