// An ARRAY made without a host, with a deleter of its own; and defaults read back as values.
#ifndef KERNPACK_SIGNATURE_SEQUENCE_H_
#define KERNPACK_SIGNATURE_SEQUENCE_H_

#include <kernpack/signature/program.h>

#include <new>

KP_NAMESPACE_BEGIN
namespace signature {

KP_COLD inline void DeleteArray(void* object, int flags) {
  auto* array = static_cast<KpSequenceObject*>(object);
  if (flags & KP_DELETE_STRONG) {
    for (int64_t i = 0; i < array->size; ++i) kp_any_release(&array->data[i]);
  }
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

// *out becomes an ARRAY of `count` Nones, owned by the caller. -1 when memory runs out; nothing is raised.
KP_COLD inline int MakeArray(uint32_t count, KpAny* out) {
  void* memory = ::operator new(sizeof(KpSequenceObject) + count * sizeof(KpAny), std::nothrow);
  if (!memory) return -1;
  auto* array = static_cast<KpSequenceObject*>(memory);
  *array = KpSequenceObject{};
  array->header.counts = 1 | uint64_t{1} << 32;
  array->header.type_index = KP_TYPE_ARRAY;
  array->header.deleter = &DeleteArray;
  array->data = reinterpret_cast<KpAny*>(array + 1);
  array->size = array->capacity = count;
  for (uint32_t i = 0; i < count; ++i) array->data[i] = kp_none();
  out->type_index = KP_TYPE_ARRAY;
  out->small_len = 0;
  out->v.v_obj = &array->header;
  return 0;
}

inline KpAny ToFloatValue(KpAny number) {
  if (number.type_index == KP_TYPE_INT) number.v.v_float = static_cast<double>(number.v.v_int);
  number.type_index = KP_TYPE_FLOAT;
  return number;
}

// Makes FLOATs of the INTs that a check let pass for a `float` or a `list[float]`, so that kernels in C may read v_float. 1: *a is
// a new list, which the caller owns; 0: there is nothing to own; -1: memory ran out.
KP_COLD inline int MakeFloats(KpAny* a) {
  if (a->type_index == KP_TYPE_INT) *a = ToFloatValue(*a);
  if (a->type_index != KP_TYPE_ARRAY && a->type_index != KP_TYPE_LIST) return 0;
  const auto* given = reinterpret_cast<const KpSequenceObject*>(a->v.v_obj);
  bool ints = false;
  for (int64_t i = 0; i < given->size; ++i) ints = ints || given->data[i].type_index == KP_TYPE_INT;
  if (!ints) return 0;
  const auto count = static_cast<uint32_t>(given->size);
  if (count != given->size || MakeArray(count, a)) return -1;
  KpAny* items = reinterpret_cast<KpSequenceObject*>(a->v.v_obj)->data;
  for (uint32_t i = 0; i < count; ++i) items[i] = ToFloatValue(given->data[i]);
  return 1;
}

// The default at `at` (no list): tag, payload low, payload high. Borrowed from the program.
inline KpAny ReadDefault(View p, const uint32_t* at) {
  KpAny a = kp_none();
  a.type_index = static_cast<int32_t>(at[0]);
  if (a.type_index == KP_TYPE_RAW_STR) {
    a.v.v_c_str = p.Text(at[1]);
  } else {
    a.v.v_bits = at[1] | static_cast<uint64_t>(at[2]) << 32;
  }
  return a;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_SEQUENCE_H_
