/* Objects that no SDK makes: their type is right, their body leads nowhere. Each alias hands one back. */
#include <kernpack/abi.h>
#include <stdlib.h>

static void delete_object(void* object, int flags) {
  if (flags & KP_DELETE_WEAK) free(object);
}

/* An object of `size` zero bytes behind its header, as a result. */
static void* give(KpAny* result, int32_t type_index, size_t size) {
  KpObject* object = (KpObject*)calloc(1, size);
  if (!object) abort();
  object->counts = 1 | (uint64_t)1 << 32;
  object->type_index = type_index;
  object->deleter = delete_object;
  result->type_index = type_index;
  result->v.v_obj = object;
  return object;
}

static void put(KpAny* at, int32_t type_index, void* pointer) {
  at->type_index = type_index;
  at->small_len = 0;
  at->v.v_ptr = pointer;
}

static int64_t extents[2] = {4, -5};

#define DAMAGED(name, statements)                                                                 \
  KP_EXPORT_SYMBOL int __tvm_ffi_##name(void* self, const KpAny* args, int32_t n, KpAny* result); \
  int __tvm_ffi_##name(void* self, const KpAny* args, int32_t n, KpAny* result) {                 \
    (void)self, (void)args, (void)n;                                                              \
    statements;                                                                                   \
    return 0;                                                                                     \
  }
#define TENSOR(name, rank, shape_)                                                                                \
  DAMAGED(name, KpDLTensor* t = &((KpTensorObject*)give(result, KP_TYPE_TENSOR, sizeof(KpTensorObject)))->tensor; \
          t->device.device_type = KP_DEVICE_CPU; t->dtype.code = KP_DTYPE_FLOAT; t->dtype.bits = 32;              \
          t->dtype.lanes = 1; t->ndim = rank; t->shape = shape_)
#define SEQUENCE(name, type, count, statements)                                                             \
  DAMAGED(name, KpSequenceObject* s = (KpSequenceObject*)give(result, type, sizeof *s + 2 * sizeof(KpAny)); \
          s->size = count; statements)

DAMAGED(text_at_null, ((KpStrObject*)give(result, KP_TYPE_STR, sizeof(KpStrObject)))->bytes.size = 5)
DAMAGED(bytes_at_null, ((KpStrObject*)give(result, KP_TYPE_BYTES, sizeof(KpStrObject)))->bytes.size = 5)
DAMAGED(text_of_half_the_memory, KpStrObject* s = (KpStrObject*)give(result, KP_TYPE_STR, sizeof *s);
        s->bytes.data = "abc"; s->bytes.size = (size_t)-1)
DAMAGED(shape_at_null, ((KpShapeObject*)give(result, KP_TYPE_SHAPE, sizeof(KpShapeObject)))->size = 3)
DAMAGED(map_at_null, KpMapObject* m = (KpMapObject*)give(result, KP_TYPE_MAP, sizeof *m); m->size = 3;
        m->slots = (uint64_t)1 << 63 | 4)
DAMAGED(function_without_code, give(result, KP_TYPE_FUNCTION, sizeof(KpFunctionObject)))
DAMAGED(nobodys_object, give(result, KP_TYPE_OPAQUE_PY_OBJECT, sizeof(KpOpaqueObject)))
TENSOR(tensor_of_negative_rank, -3, extents)
TENSOR(tensor_without_shape, 2, NULL)
TENSOR(tensor_of_negative_extent, 2, extents)
TENSOR(tensor_without_data, 1, extents)
SEQUENCE(items_at_null, KP_TYPE_ARRAY, 2, (void)0)
SEQUENCE(fewer_than_none, KP_TYPE_LIST, -2, s->data = (KpAny*)(s + 1))
SEQUENCE(borrowed_item, KP_TYPE_ARRAY, 1, s->data = (KpAny*)(s + 1); put(s->data, KP_TYPE_BYTE_ARRAY_PTR, NULL))
SEQUENCE(list_of_itself, KP_TYPE_LIST, 2, s->data = (KpAny*)(s + 1); put(s->data, KP_TYPE_LIST, s);
         put(s->data + 1, KP_TYPE_LIST, s))
