// Lists of dimensions: ShapeView (borrowed) and Shape (owning).
#ifndef KERNPACK_SHAPE_H_
#define KERNPACK_SHAPE_H_

#include <kernpack/any.h>

KP_NAMESPACE_BEGIN

// Sizes or strides of a tensor, borrowed from it and valid as long as it. Items are numbers of elements, not of bytes. Negative
// indices of at() count from the end.
//
//   const kp::ShapeView shape = x.shape();
//   int64_t rows = 1;
//   for (size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
class ShapeView {
 public:
  constexpr ShapeView() = default;
  constexpr ShapeView(const int64_t* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  constexpr ShapeView(const int64_t (&items)[N]) : data_(items), size_(N) {}

  constexpr const int64_t* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const int64_t* begin() const { return data_; }
  constexpr const int64_t* end() const { return data_ + size_; }
  constexpr int64_t operator[](size_t i) const { return data_[i]; }  // unchecked
  int64_t front() const { return at(0); }
  int64_t back() const { return at(-1); }

  // Checked: IndexError outside [-size, size).
  int64_t at(int64_t i) const {
    const int64_t n = static_cast<int64_t>(size_);
    if (KP_UNLIKELY(i < -n || i >= n)) detail::throw_bad_dim(i, n);
    return data_[i < 0 ? i + n : i];
  }
  // Product of the items; 1 if empty.
  int64_t numel() const {
    int64_t n = 1;
    for (size_t i = 0; i < size_; ++i) n *= data_[i];
    return n;
  }

  friend bool operator==(ShapeView a, ShapeView b) {
    return a.size_ == b.size_ && (a.size_ == 0 || !__builtin_memcmp(a.data_, b.data_, a.size_ * sizeof(int64_t)));
  }
  friend bool operator!=(ShapeView a, ShapeView b) { return !(a == b); }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

// "[2, 3]"
KP_COLD inline Text& operator<<(Text& text, ShapeView shape) {
  text << '[';
  for (size_t i = 0; i < shape.size(); ++i) (i ? text << ", " : text) << shape[i];
  return text << ']';
}

// An owned list of sizes, which may outlive the call; copies share the list, which never changes.
//
//   const kp::Shape kept = x.shape();  // copies the sizes
//   const kp::Shape square({64, 64});
//   if (kp::ShapeView(kept) == square) Run();
class Shape {
 public:
  Shape() : Shape(ShapeView()) {}
  Shape(ShapeView items) : object_(detail::new_object<KpShapeObject>(KP_TYPE_SHAPE, items.size() * sizeof(int64_t))) {
    int64_t* copy = reinterpret_cast<int64_t*>(object_.get() + 1);
    if (items.size()) __builtin_memcpy(copy, items.data(), items.size() * sizeof(int64_t));
    object_->data = copy;
    object_->size = items.size();
  }
  template <size_t N>
  Shape(const int64_t (&items)[N]) : Shape(ShapeView(items)) {}
  explicit Shape(detail::Ref<KpShapeObject> object) : object_(static_cast<detail::Ref<KpShapeObject>&&>(object)) {}

  operator ShapeView() const { return {object_->data, object_->size}; }
  size_t size() const { return object_->size; }
  int64_t operator[](size_t i) const { return object_->data[i]; }  // unchecked
  int64_t at(int64_t i) const { return ShapeView(*this).at(i); }
  const detail::Ref<KpShapeObject>& object() const { return object_; }

 private:
  detail::Ref<KpShapeObject> object_;
};
inline Text& operator<<(Text& text, const Shape& shape) { return text << ShapeView(shape); }

template <>
struct Traits<ShapeView> {
  static Read read(const KpAny& a, ShapeView* out) {
    if (a.type_index != KP_TYPE_SHAPE) return Read::kWrongType;
    const KpShapeObject* shape = reinterpret_cast<const KpShapeObject*>(a.v.v_obj);
    *out = ShapeView(shape->data, shape->size);
    return Read::kOk;
  }
  static KpAny own(ShapeView value);  // below
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "Shape";
  }
};

// A list of ints is accepted as a Shape too.
template <>
struct Traits<Shape> {
  static Read read(const KpAny& a, Shape* out) {
    if (a.type_index == KP_TYPE_SHAPE) {
      kp_retain(a.v.v_obj);
      *out = Shape(detail::Ref<KpShapeObject>(reinterpret_cast<KpShapeObject*>(a.v.v_obj)));
      return Read::kOk;
    }
    if (a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) return Read::kWrongType;
    const KpSequenceObject* list = reinterpret_cast<const KpSequenceObject*>(a.v.v_obj);
    detail::Ref<KpShapeObject> shape(
        detail::new_object<KpShapeObject>(KP_TYPE_SHAPE, static_cast<size_t>(list->size) * sizeof(int64_t)));
    int64_t* items = reinterpret_cast<int64_t*>(shape.get() + 1);
    for (int64_t i = 0; i < list->size; ++i) {
      if (list->data[i].type_index != KP_TYPE_INT) return Read::kWrongType;
      items[i] = list->data[i].v.v_int;
    }
    shape->data = items;
    shape->size = static_cast<size_t>(list->size);
    *out = Shape(static_cast<detail::Ref<KpShapeObject>&&>(shape));
    return Read::kOk;
  }
  static KpAny view(const Shape& value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_SHAPE;
    a.v.v_obj = value.object().object();
    return a;
  }
  static KpAny own(Shape value) {
    const KpAny a = view(value);
    kp_any_retain(&a);
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "Shape";
  }
};

inline KpAny Traits<ShapeView>::own(ShapeView value) { return Traits<Shape>::own(Shape(value)); }

KP_NAMESPACE_END

#endif  // KERNPACK_SHAPE_H_
