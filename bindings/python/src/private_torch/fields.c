/* Finds the fields of fields.h. */
#include "private_torch/fields.h"

#include "python/hooks.h"
#include "python/system.h"
#include "python/threads.h"
#include "torch/guard_torch.h"

KpyTorchLayout kpy_torch_layout;

enum { kMaxSamples = 48, kMaxBytes = 512 };

typedef struct Sample {
  PyObject* tensor; /* borrowed */
  uint64_t address; /* of the C++ tensor */
  uint64_t keys;
  int gradient; /* whether autograd keeps a record of it; -1: not said */
  int tangent; /* whether forward mode does, in that record; -1: not said */
  int plain; /* whether it is dense, in memory of its own and wrapped by nothing; -1: not said */
} Sample;

static uint64_t WordAt(const void* base, Py_ssize_t offset) {
  return *(const uint64_t*)(const void*)((const char*)base + offset);
}

/* ---- one rule a field: does the word at `offset` of `base` say what torch says? ---- */

static int IsAddress(const Sample* sample, const void* base, Py_ssize_t offset) {
  return WordAt(base, offset) == sample->address;
}
static int IsKeys(const Sample* sample, const void* base, Py_ssize_t offset) {
  return WordAt(base, offset) == sample->keys;
}
static int IsAutograd(const Sample* sample, const void* base, Py_ssize_t offset) {
  return sample->gradient < 0 || (WordAt(base, offset) != 0) == (sample->gradient == 1);
}

/* In autograd's record, whose address is in `autograd`; records without a tangent are none, or have the two words NULL. */
static int IsTangent(const Sample* sample, const void* record, Py_ssize_t offset) {
  if (sample->tangent < 0 || record == NULL) return sample->tangent != 1;
  /* A shared_ptr: the object and who counts it. */
  return (WordAt(record, offset) != 0) == sample->tangent && (WordAt(record, offset + 8) != 0) == sample->tangent;
}

/* The only offset in [begin, end) where the rule holds for every sample; -1 when there is none or more than one. field: -1, or
 * where the C++ object points to what is searched. */
static Py_ssize_t Find(const Sample* samples, Py_ssize_t count, int in_object, Py_ssize_t begin, Py_ssize_t end,
                       Py_ssize_t field, int (*rule)(const Sample*, const void*, Py_ssize_t)) {
  Py_ssize_t offset, i, found = -1;
  for (offset = begin; offset + 8 <= end; offset += 8) {
    for (i = 0; i < count; ++i) {
      const void* base = in_object ? (const void*)samples[i].tensor : (const void*)(uintptr_t)samples[i].address;
      if (field >= 0) base = *(const void* const*)(const void*)((const char*)base + field);
      if (!rule(&samples[i], base, offset)) break;
    }
    if (i < count) continue;
    if (found >= 0) return -1;
    found = offset;
  }
  return found;
}

/* How much of every sample's C++ object may be read; or of the records that they point to at offset `field`. */
static Py_ssize_t ReadableBytes(const Sample* samples, Py_ssize_t count, Py_ssize_t field) {
  size_t least = kMaxBytes;
  Py_ssize_t i;
  for (i = 0; i < count; ++i) {
    void* object = (void*)(uintptr_t)samples[i].address;
    if (field >= 0) object = *(void**)(void*)((char*)object + field);
    if (object != NULL && kpy_usable_bytes(object) < least) least = kpy_usable_bytes(object);
  }
  return (Py_ssize_t)least;
}

static long GetVersion(PyObject* tensor) {
  PyObject* version = PyObject_GetAttrString(tensor, "_version");
  const long value = version == NULL ? -1 : PyLong_AsLong(version);
  Py_XDECREF(version);
  return value;
}

/* Checks that the direct access to the version counter works as expected. */
static int FindBump(PyObject* tensor, uint64_t counted) {
  KpyTorchLayout* layout = &kpy_torch_layout;
  const long before = GetVersion(tensor);
  layout->counted = counted;
  layout->bump = (void (*)(const void*))kpy_torch_symbol("_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE");
  if (layout->bump == NULL || before < 0 || (kpy_torch_keys(tensor) & counted) == 0) return 0;
  layout->bump((const char*)tensor + layout->impl);
  return GetVersion(tensor) == before + 1;
}

/* Checks that the guard can tell plain tensors from all other tensors by these fields. */
static int TellsPlain(const Sample* samples, Py_ssize_t count, const KpyTorchLayout* layout) {
  Py_ssize_t i;
  for (i = 0; i < count; ++i) {
    const void* impl = *(const void* const*)(const void*)((const char*)samples[i].tensor + layout->impl);
    const int plain = (WordAt(impl, layout->keys) & ~layout->plain) == 0;
    if (samples[i].plain >= 0 && plain != samples[i].plain) return 0;
  }
  return 1;
}

/* All fields or none: other threads may be reading already. */
static void Search(const Sample* samples, Py_ssize_t count, Py_ssize_t object_bytes, uint64_t plain) {
  KpyTorchLayout found = kpy_torch_layout;
  Py_ssize_t bytes;
  found.impl = Find(samples, count, 1, (Py_ssize_t)sizeof(PyObject), object_bytes, -1, IsAddress);
  if (found.impl < 0) return;
  bytes = ReadableBytes(samples, count, -1);
  found.keys = Find(samples, count, 0, 8, bytes, -1, IsKeys);
  found.autograd = Find(samples, count, 0, 8, bytes, -1, IsAutograd);
  found.plain = plain;
  if (found.keys < 0 || found.autograd < 0) return;
  bytes = ReadableBytes(samples, count, found.autograd);
  found.tangent = Find(samples, count, 0, 8, bytes - 8, found.autograd, IsTangent);
  if (found.tangent < 0 || !TellsPlain(samples, count, &found)) return;
  kpy_lock();
  if (!kpy_torch_layout.found) {
    kpy_torch_layout = found; /* nobody reads it until the hook is on */
    KPY_PUBLISH(kpy_torch_layout.found, 1);
  }
  kpy_unlock();
}

static int ReadSample(PyObject* row, Sample* out) {
  unsigned long long address, keys;
  if (!PyArg_ParseTuple(row, "OKKiii", &out->tensor, &address, &keys, &out->gradient, &out->tangent, &out->plain))
    return -1;
  out->address = address;
  out->keys = keys;
  return out->address == 0 ? -1 : 0;
}

typedef struct Answer {
  int asked; /* this torch has been asked */
  int bump; /* the version counter was found, too */
} Answer;

/* Looks for the fields once. In a fresh thread: inside a mode, vmap and the like, no samples of torch's own tensors can be made. */
static void Look(void* out) {
  /* ([(tensor, address, keys, gradient, tangent, plain)], plain keys, keys of what is counted, bytes of the Python object) */
  PyObject *answer = kpy_helper("torch_samples", NULL), *rows;
  Sample samples[kMaxSamples];
  unsigned long long plain, counted;
  Py_ssize_t i, count = 0, object_bytes;
  int good = answer != NULL && PyArg_ParseTuple(answer, "O!KKn", &PyList_Type, &rows, &plain, &counted, &object_bytes);
  if (good) count = PyList_Size(rows);
  good = count > 0 && count <= kMaxSamples;
  for (i = 0; good && i < count; ++i) good = ReadSample(PyList_GetItem(rows, i), &samples[i]) == 0;
  PyErr_Clear();
  if (good) {
    if (plain != 0) Search(samples, count, object_bytes, plain);
    ((Answer*)out)->bump = kpy_torch_layout.found && FindBump(samples[0].tensor, counted);
    PyErr_Clear();
  }
  Py_XDECREF(answer);
  ((Answer*)out)->asked = good;
}

void kpy_torch_layout_init(void) {
  static int attempts_left = 8; /* another thread may leave a level of forward mode meanwhile: then later */
  /* One thread at a time: torch has one forward mode level per process, and a tangent ends with the level. Meanwhile other threads'
   * calls go through torch. */
  static int is_looking = 0;
  if (KPY_PUBLISHED(kpy_torch_layout.found) || KPY_PUBLISHED(attempts_left) <= 0) return;
  if (!kpy_torch_hook_allowed(KPY_TORCH_FIELDS)) {
    KPY_PUBLISH(attempts_left, 0);
    return;
  }
  if (__atomic_exchange_n(&is_looking, 1, __ATOMIC_ACQ_REL)) return;
  if (attempts_left > 0) { /* another thread may have been here since */
    Answer answer = {0, 0};
    kpy_torch_run_check(Look, &answer);
    if (answer.asked && kpy_torch_layout.found && kpy_torch_hook_allowed(KPY_TORCH_VERSIONS))
      kpy_torch_hook_found(KPY_TORCH_VERSIONS, answer.bump);
    KPY_PUBLISH(attempts_left,
                answer.asked ? 0 : attempts_left - 1); /* another look at this torch would give the same */
    if (attempts_left == 0) kpy_torch_hook_found(KPY_TORCH_FIELDS, kpy_torch_layout.found);
  }
  KPY_PUBLISH(is_looking, 0);
}
