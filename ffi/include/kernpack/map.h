// MapView: a borrowed dict.
#ifndef KERNPACK_MAP_H_
#define KERNPACK_MAP_H_

#include <kernpack/any.h>
#include <kernpack/error.h>
#include <kernpack/string.h>

KP_NAMESPACE_BEGIN
namespace detail {

struct MapPair {
  KpAny key;
  KpAny value;
};
// A map of more than four pairs: blocks of 16 tags and 16 items, linked in insertion order (ffi/src/values/object/map_layout.h).
struct MapItem {
  MapPair pair;
  uint64_t previous;
  uint64_t next;
};
struct MapBlock {
  uint8_t tags[16];
  MapItem items[16];
};
struct DenseMap {
  KpMapObject base;
  uint32_t shift;
  uint64_t first;
  uint64_t last;
};
inline constexpr uint64_t kMapFlat = uint64_t{1} << 63;
inline constexpr uint64_t kMapEnd = ~uint64_t{0};

}  // namespace detail

// The pairs of a dict, in insertion order; valid for the call. For functions without a signature.
//
//   void Configure(kp::MapView options) {
//     const int64_t threads = options.get<int64_t>("threads");  // KeyError if there is no such key
//     for (const kp::MapView::Pair& pair : options) Use(pair.key.cast<kp::StringView>(), pair.value);
class MapView {
 public:
  MapView() = default;
  explicit MapView(const KpMapObject* map) : map_(map) {}

  size_t size() const { return map_ ? static_cast<size_t>(map_->size) : 0; }
  bool empty() const { return size() == 0; }

  struct Pair {
    AnyView key;
    AnyView value;
  };

  // Iterates over the pairs. A pair's strings are borrowed from it, and valid until the next step.
  class Iterator {
   public:
    Iterator(const KpMapObject* map, uint64_t at) : map_(map), at_(at) {}
    Pair operator*() const { return {pair().key, pair().value}; }
    Iterator& operator++() {
      at_ = flat() ? (at_ + 1 < map_->size ? at_ + 1 : detail::kMapEnd) : item().next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class MapView;
    bool flat() const { return (map_->slots & detail::kMapFlat) != 0; }
    const detail::MapItem& item() const {
      return static_cast<const detail::MapBlock*>(map_->data)[at_ / 16].items[at_ % 16];
    }
    const detail::MapPair& pair() const {
      return flat() ? static_cast<const detail::MapPair*>(map_->data)[at_] : item().pair;
    }

    const KpMapObject* map_;
    uint64_t at_;
  };
  Iterator begin() const {
    if (empty()) return end();
    const bool flat = (map_->slots & detail::kMapFlat) != 0;
    return {map_, flat ? 0 : reinterpret_cast<const detail::DenseMap*>(map_)->first};
  }
  Iterator end() const { return {map_, detail::kMapEnd}; }

  // The value of a string key, or nothing. Searches linearly: don't call it in loops over elements.
  std::optional<AnyView> find(StringView key) const {
    const KpAny* found = value_of(key);
    if (!found) return std::nullopt;
    return AnyView(*found);
  }
  // The value of a string key as a T. KeyError if there is none, TypeError if it has another type.
  template <class T>
  T get(StringView key) const {
    const KpAny* found = value_of(key);
    if (KP_UNLIKELY(!found)) throw_missing(key);
    return detail::read_or_throw<T>(*found);  // not a copy: a short string's view points into the value
  }

 private:
  const KpAny* value_of(StringView key) const {
    for (Iterator i = begin(); i != end(); ++i) {
      KpBytes text = {};
      if (kp_any_str(&i.pair().key, &text) && StringView(text) == key) return &i.pair().value;
    }
    return nullptr;
  }
  [[noreturn]] KP_COLD static void throw_missing(StringView key) {
    KP_THROW(KeyError) << "expected a dict with the key \"" << key << '"';
  }

  const KpMapObject* map_ = nullptr;
};

template <>
struct Traits<MapView> {
  static Read read(const KpAny& a, MapView* out) {
    if (a.type_index != KP_TYPE_MAP) return Read::kWrongType;
    *out = MapView(reinterpret_cast<const KpMapObject*>(a.v.v_obj));
    return Read::kOk;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "dict";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_MAP_H_
