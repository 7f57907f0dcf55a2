/* The word that torch's dispatcher itself looks at first holds the keys that a mode, a transform or a trace adds to a thread's.
 * torch exports it as a thread-local variable (c10::impl::raw_local_dispatch_key_set, the same since 1.5), stored so that it is 0 in a
 * thread where nothing is on. It is compared with what torch's Python functions say before it is used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo */
#endif
#include "private_torch/watchers.h"

#ifdef __GLIBC__
#include <dlfcn.h>
#endif

#include "python/hooks.h"
#include "python/threads.h"
#include "torch/guard_torch.h"

/* The parameter of __tls_get_addr on every architecture that has this function. */
typedef struct TlsIndex {
  unsigned long module;
  unsigned long offset;
} TlsIndex;

static void* (*g_tls_address)(TlsIndex*);
static TlsIndex g_word;
static uint64_t g_ignored; /* keys that inference mode takes away and gives back */
static uint64_t g_transforms, g_modes;
static int64_t (*g_function_modes)(void);
static _Bool (*g_profiled)(void);

static uint64_t ReadWord(void) { return *(const uint64_t*)g_tls_address(&g_word) & ~g_ignored; }

static PyObject* WordAsInt(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return PyLong_FromUnsignedLongLong(ReadWord());
}

/* A thread-local variable is found by its library's number and its place therein, both the same in every thread. */
static int LocateWord(void) {
#ifdef __GLIBC__
  static const char kSymbol[] = "_ZN3c104impl26raw_local_dispatch_key_setE";
  void* library = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  void* here = library == NULL ? NULL : dlsym(library, kSymbol); /* of this thread */
  size_t module = 0;
  g_tls_address = (void* (*)(TlsIndex*))dlsym(RTLD_DEFAULT, "__tls_get_addr");
  if (here == NULL || g_tls_address == NULL || dlinfo(library, RTLD_DI_TLS_MODID, &module) != 0 || module == 0)
    return 0;
  g_word.module = module;
  g_word.offset = 0;
  g_word.offset = (unsigned long)((uintptr_t)here - (uintptr_t)g_tls_address(&g_word));
  return g_tls_address(&g_word) == here;
#else
  return 0;
#endif
}

/* Lets torch's own functions say whether the word was read well, with a key added and without. In a fresh thread: the calling one may be
 * tracing, and so have that key already. */
static void VerifyWord(void* good) {
  static PyMethodDef method = {"word", WordAsInt, METH_NOARGS, NULL};
  PyObject* read = PyCFunction_NewEx(&method, NULL, NULL);
  PyObject* answer = read == NULL ? NULL : kpy_helper("torch_word_is", "(O)", read);
  *(int*)good = answer == Py_True;
  Py_XDECREF(answer);
  Py_XDECREF(read);
  PyErr_Clear();
}

static int ReadKeyBits(void) {
  PyObject* bits = kpy_helper("torch_key_bits", NULL);
  unsigned long long ignored, transforms, modes;
  const int good = bits != NULL && PyArg_ParseTuple(bits, "KKK", &ignored, &transforms, &modes);
  PyErr_Clear();
  Py_XDECREF(bits);
  if (!good) return 0;
  g_ignored = ignored;
  g_transforms = transforms;
  g_modes = modes;
  return 1;
}

void kpy_torch_watchers_init(void) {
  int good = 0;
  if (!kpy_torch_hook_allowed(KPY_TORCH_WATCHERS)) return;
  /* C++ functions without parameters, whose names have stood since torch 2.0. */
  g_function_modes = (int64_t (*)(void))kpy_torch_symbol("_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv");
  g_profiled = (_Bool(*)(void))kpy_torch_symbol("_ZN5torch8autograd8profiler29isProfilerEnabledInMainThreadEv");
  if (g_function_modes != NULL && g_profiled != NULL && ReadKeyBits() && LocateWord())
    kpy_torch_run_check(VerifyWord, &good);
  kpy_torch_hook_found(KPY_TORCH_WATCHERS, good);
}

int kpy_torch_watchers(KpyTorchWatchers* out) {
  if (KPY_UNLIKELY(!KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS]))) return 1;
  out->keys = ReadWord();
  out->function_modes = g_function_modes();
  out->profiled = g_profiled();
  return out->keys != 0 || out->function_modes != 0 || out->profiled;
}

uint64_t kpy_torch_transform_keys(void) { return g_transforms; }
uint64_t kpy_torch_mode_keys(void) { return g_modes; }
