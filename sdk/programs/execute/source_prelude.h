// The C source around the steps of every program.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_SOURCE_PRELUDE_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_SOURCE_PRELUDE_H_

namespace kernpack::sdk::program {

// Before: KP_GENERATED_NAME, KP_GENERATED_VERSION, KP_GENERATED_SDK, KP_PROGRAM_FUNCTIONS, and kp_names, what they are found by.
inline constexpr char kSourcePrelude[] = R"(
struct KpInstance {
  const KpHost* host;
  const KpModules* modules;
  const KpDevices* devices;
  const KpLoadedFunction* functions[KP_PROGRAM_FUNCTIONS + 1];
};

// A value, and whether it is a reference of ours.
typedef struct Value {
  KpAny any;
  bool owned;
} Value;

static int kp_fail(const KpHost* host, const char* kind, const char* message) {
  return host->raise(host, kp_bytes(kind), kp_bytes(message), kp_bytes(""));
}

// The raised error again, with the step before its text.
static int kp_at(const KpInstance* self, const char* step) {
  char text[2048];
  KpAny error = kp_none();
  self->host->take_error(self->host, &error);
  if (error.type_index != KP_TYPE_ERROR) return kp_fail(self->host, "InternalError", step);
  const KpErrorObject* e = (const KpErrorObject*)(const void*)error.v.v_obj;
  snprintf(text, sizeof text, "%s: %s", step, e->message.data);
  self->host->raise(self->host, e->kind, kp_bytes(text), e->backtrace);
  kp_any_release(&error);
  return -1;
}

static void kp_drop(Value* value) {
  if (value->owned) kp_any_release(&value->any);
  value->any = kp_none();
  value->owned = false;
}

static void kp_drop_all(Value* values, int count) {
  for (int i = 0; i < count; ++i) kp_drop(&values[i]);
}

static KpAny kp_plain(int32_t type_index, uint64_t bits) {
  KpAny any = kp_none();
  any.type_index = type_index;
  any.v.v_bits = bits;
  return any;
}

static KpAny kp_text(const char* text) {
  KpAny any = kp_none();
  any.type_index = KP_TYPE_RAW_STR;
  any.v.v_c_str = text;
  return any;
}

static KpAny kp_list(KpSequenceObject* list, KpAny* items, int64_t size) {
  memset(list, 0, sizeof *list);
  list->header.counts = 1 | (uint64_t)1 << 32;
  list->header.type_index = KP_TYPE_ARRAY;
  list->data = items;
  list->size = list->capacity = size;
  return kp_plain(KP_TYPE_ARRAY, (uint64_t)(uintptr_t)list);
}

// NULL when it isn't a list.
static const KpSequenceObject* kp_items(const KpAny* a) {
  const bool is_list = a->type_index == KP_TYPE_ARRAY || a->type_index == KP_TYPE_LIST;
  return is_list ? (const KpSequenceObject*)(const void*)a->v.v_obj : NULL;
}

static int kp_item(const KpInstance* self, const KpAny* tuple, int64_t index, KpAny* out) {
  const KpSequenceObject* list = kp_items(tuple);
  if (!list || index >= list->size) return kp_fail(self->host, "IndexError", "expected a tuple that has the element");
  *out = list->data[index];
  return 0;
}

// Calls a function; its results become new values.
static int kp_step(const KpInstance* self, int function, const KpAny* args, int count, Value* const* results,
                   int result_count) {
  KpAny result = kp_none();
  if (self->modules->call(self->functions[function], args, count, &result)) return -1;
  if (result_count == 1) {
    results[0]->any = result;
    results[0]->owned = true;
    return 0;
  }
  const KpSequenceObject* list = kp_items(&result);
  if (result_count > 1 && (!list || list->size != result_count)) {
    kp_any_release(&result);
    return kp_fail(self->host, "TypeError", "expected a list of its results, got another value");
  }
  for (int i = 0; i < result_count; ++i) {
    results[i]->any = list->data[i];
    results[i]->owned = true;
    kp_any_retain(&list->data[i]);
  }
  kp_any_release(&result);
  return 0;
}

// Calls a function that writes to tensors, the last of the arguments.
static int kp_into(const KpInstance* self, int function, const KpAny* args, int count) {
  KpAny stray = kp_none();
  const int rc = self->modules->call(self->functions[function], args, count, &stray);
  kp_any_release(&stray);
  return rc;
}

static int kp_is_true(const KpInstance* self, const KpAny* a, bool* out) {
  const KpDLTensor* t = kp_any_tensor(a);
  if (a->type_index == KP_TYPE_BOOL) {
    *out = a->v.v_int != 0;
    return 0;
  }
  if (!t || t->ndim || t->dtype.code != KP_DTYPE_BOOL || t->device.device_type != KP_DEVICE_CPU)
    return kp_fail(self->host, "TypeError", "the condition: expected a bool or a bool[] of the host, got another value");
  *out = *((const char*)t->data + t->byte_offset) != 0;
  return 0;
}

// A result of a program: copied to where it is wanted, or given as a new reference.
static int kp_give(const KpInstance* self, const Value* value, KpAny* out) {
  KpDLTensor like;
  const KpDLTensor* from = kp_any_tensor(&value->any);
  if (out->type_index != KP_TYPE_NONE) {
    if (from && from == kp_any_tensor(out)) return 0;
    if (!from) return kp_fail(self->host, "TypeError", "a result: expected a tensor, got another value");
    return self->devices->copy(from, kp_any_tensor(out));
  }
  if (value->any.type_index != KP_TYPE_DLTENSOR_PTR) {
    *out = value->any;
    kp_any_retain(out);
    return 0;
  }
  like = *from;
  like.data = NULL;
  like.strides = NULL;
  like.byte_offset = 0;
  if (self->host->tensor_alloc(self->host, &like, out)) return -1;
  return self->devices->copy(from, kp_any_tensor(out));
}
)";

inline constexpr char kSourceEpilogue[] = R"(
static void kp_destroy(KpInstance* self) { free(self); }

// Finds what the program calls: an error here says which module to load first.
static int kp_create(const KpHost* host, KpInstance** out) {
  const void* modules = NULL;
  const void* devices = NULL;
  KpInstance* self = (KpInstance*)calloc(1, sizeof *self);
  if (!self) return kp_fail(host, "MemoryError", KP_GENERATED_NAME ": out of memory");
  if (host->get_extension(host, kp_bytes(KP_MODULES_EXTENSION), 1, &modules) ||
      host->get_extension(host, kp_bytes(KP_DEVICES_EXTENSION), 1, &devices)) {
    free(self);
    return -1;
  }
  if (!modules || !devices) {
    free(self);
    return kp_fail(host, "ImportError", KP_GENERATED_NAME ": this host lists no modules; upgrade: pip install -U kernpack");
  }
  self->host = host;
  self->modules = (const KpModules*)modules;
  self->devices = (const KpDevices*)devices;
  for (int i = 0; i < KP_PROGRAM_FUNCTIONS; ++i) {
    if (self->modules->function_find(kp_bytes(kp_names[i]), &self->functions[i])) {
      free(self);
      return -1;
    }
  }
  *out = self;
  return 0;
}
)";

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_SOURCE_PRELUDE_H_
