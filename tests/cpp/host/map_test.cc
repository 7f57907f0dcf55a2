// Maps against a plain model: contents, order, replacement, both layouts.
#include "support.h"

#include <map>
#include <random>

namespace kernpack_test {
namespace {

class MapTest : public HostTest {
 protected:
  static const KpMapObject* AsMap(const Value& value) { return reinterpret_cast<const KpMapObject*>(value.object()); }

  static std::string Lookup(const Value& map, const KpAny& key) {
    Value found;
    int32_t is_there = 0;
    EXPECT_EQ(kp_map_get(AsMap(map), &key, found.out(), &is_there), 0);
    return is_there ? std::to_string(found->v.v_int) : "absent";
  }
};

TEST_F(MapTest, AnEmptyMapHasNothing) {
  Value map;
  ASSERT_EQ(kp_map_new(nullptr, 0, map.out()), 0);
  EXPECT_EQ(AsMap(map)->size, 0u);
  EXPECT_EQ(Lookup(map, Int(1)), "absent");
  uint64_t cursor = 0;
  KpAny key;
  KpAny value;
  EXPECT_EQ(kp_map_next(AsMap(map), &cursor, &key, &value), 0);
}

TEST_F(MapTest, KeepsInsertionOrderAndLaterKeysReplace) {
  for (int count : {1, 2, 4, 5, 16, 17, 100, 5000}) {
    std::vector<KpAny> items;
    for (int i = 0; i < count; ++i) {
      items.push_back(Int(i * 7919 % 100003));
      items.push_back(Int(-1));
    }
    for (int i = 0; i < count; ++i) {
      items.push_back(Int(i * 7919 % 100003));
      items.push_back(Int(i));
    }
    Value map;
    ASSERT_EQ(kp_map_new(items.data(), items.size() / 2, map.out()), 0);
    ASSERT_EQ(AsMap(map)->size, static_cast<uint64_t>(count));
    EXPECT_EQ((AsMap(map)->slots >> 63) == 1, count <= 4) << "flat up to four pairs";
    uint64_t cursor = 0;
    KpAny key;
    KpAny value;
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(kp_map_next(AsMap(map), &cursor, &key, &value), 1);
      EXPECT_EQ(key.v.v_int, i * 7919 % 100003);
      EXPECT_EQ(value.v.v_int, i);
    }
    EXPECT_EQ(kp_map_next(AsMap(map), &cursor, &key, &value), 0);
    EXPECT_EQ(kp_map_next(AsMap(map), &cursor, &key, &value), 0) << "the end stays the end";
  }
}

TEST_F(MapTest, EveryFormOfAStringIsTheSameKey) {
  std::vector<Value> owners(8);
  std::vector<KpAny> items;
  const char* names[] = {"", "a", "seven77", "eight888", "a longer key", "key3", "key4", "key5"};
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(kp_string_new(kp_bytes(names[i]), owners[i].out()), 0);
    items.push_back(owners[i].get());
    items.push_back(Int(i));
  }
  Value map;
  ASSERT_EQ(kp_map_new(items.data(), 8, map.out()), 0);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(Lookup(map, RawStr(names[i])), std::to_string(i));
    // A heap string, short as it may be, which another SDK may make.
    KpStrObject heap{{1, KP_TYPE_STR, 0, nullptr}, kp_bytes(names[i])};
    KpAny key = kp_none();
    key.type_index = KP_TYPE_STR;
    key.v.v_obj = &heap.header;
    EXPECT_EQ(Lookup(map, key), std::to_string(i));
  }
  KpBytes raw = kp_bytes("a");
  KpAny bytes = kp_none();
  bytes.type_index = KP_TYPE_BYTE_ARRAY_PTR;
  bytes.v.v_ptr = &raw;
  EXPECT_EQ(Lookup(map, bytes), "absent") << "bytes are no string";
}

TEST_F(MapTest, TypesOfKeysDoNotMeet) {
  KpAny truth = Int(1);
  truth.type_index = KP_TYPE_BOOL;
  KpAny number = kp_none();
  number.type_index = KP_TYPE_FLOAT;
  number.v.v_float = 1.0;
  const KpAny items[] = {Int(1), Int(10), truth, Int(11), number, Int(12), kp_none(), Int(13), RawStr("1"), Int(14)};
  Value map;
  ASSERT_EQ(kp_map_new(items, 5, map.out()), 0);
  EXPECT_EQ(Lookup(map, Int(1)), "10");
  EXPECT_EQ(Lookup(map, truth), "11");
  EXPECT_EQ(Lookup(map, number), "12");
  EXPECT_EQ(Lookup(map, kp_none()), "13");
  EXPECT_EQ(Lookup(map, RawStr("1")), "14");
}

TEST_F(MapTest, RandomMapsMatchAModel) {
  std::mt19937 random(20240817);
  for (int round = 0; round < 200; ++round) {
    const int count = static_cast<int>(random() % 400);
    std::map<std::string, int> model;
    std::vector<std::string> texts;
    texts.reserve(count);
    std::vector<KpAny> items;
    for (int i = 0; i < count; ++i) {
      texts.push_back(std::string(random() % 12, static_cast<char>('a' + random() % 3)) +
                      std::to_string(random() % 300));
      items.push_back(RawStr(texts.back().c_str()));
      items.push_back(Int(i));
      model[texts.back()] = i;
    }
    Value map;
    ASSERT_EQ(kp_map_new(items.data(), static_cast<size_t>(count), map.out()), 0);
    ASSERT_EQ(AsMap(map)->size, model.size());
    for (const auto& [text, value] : model) ASSERT_EQ(Lookup(map, RawStr(text.c_str())), std::to_string(value)) << text;
    ASSERT_EQ(Lookup(map, RawStr("no such key")), "absent");
  }
}

TEST_F(MapTest, HoldsAndReleasesItsObjects) {
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  for (int count : {3, 30}) {
    std::vector<KpAny> items;
    for (int i = 0; i < count; ++i) {
      items.push_back(Int(i));
      items.push_back(shape.get());
    }
    Value map;
    ASSERT_EQ(kp_map_new(items.data(), static_cast<size_t>(count), map.out()), 0);
    EXPECT_EQ(shape.object()->counts & 0xffffffff, static_cast<uint64_t>(count) + 1);
  }
  EXPECT_EQ(shape.object()->counts & 0xffffffff, 1u);
}

TEST_F(MapTest, MisuseIsAnError) {
  KpAny out;
  EXPECT_EQ(kp_map_new(nullptr, 2, &out), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_map_new: keys_and_values is NULL but pairs is 2");
  KpDLTensor tensor{};
  KpAny borrowed = kp_none();
  borrowed.type_index = KP_TYPE_DLTENSOR_PTR;
  borrowed.v.v_tensor = &tensor;
  const KpAny items[] = {RawStr("a key that is long"), Int(1), Int(2), borrowed};
  EXPECT_EQ(kp_map_new(items, 2, &out), -1);
  EXPECT_NE(TakeError().find("TypeError: a borrowed tensor"), std::string::npos);
  Value shape;
  ASSERT_EQ(kp_shape_new(nullptr, 0, shape.out()), 0);
  int32_t found = 0;
  const KpAny key = Int(0);
  EXPECT_EQ(kp_map_get(AsMap(shape), &key, &out, &found), -1);
  EXPECT_EQ(TakeError(), "TypeError: kp_map_get: expected a Map, got Shape");
}

}  // namespace
}  // namespace kernpack_test
