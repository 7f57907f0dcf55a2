/* The word that torch's dispatcher itself looks at first holds the keys that a mode, a transform or a trace adds to a thread's.
 * torch exports it as a thread-local variable (c10::impl::raw_local_dispatch_key_set, the same since 1.5), stored so that it is 0 in a
 * thread where nothing is on. It is compared with what torch's Python functions say before it is used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo */
#endif
#include "torch_state.h"

#include <dlfcn.h>

#include "hooks.h"
#include "torch_symbols.h"

KpyTorchState kpy_torch_state;

/* What __tls_get_addr takes on every architecture that has it. */
typedef struct TlsIndex {
  unsigned long module;
  unsigned long offset;
} TlsIndex;

static void* (*g_tls_address)(TlsIndex*);
static TlsIndex g_word;
static uint64_t g_ignored; /* keys that inference mode takes away and gives back */
static uint64_t g_transforms;
static PyObject* g_binding; /* torch._C */
static PyCFunction g_ask_dispatch_modes, g_ask_function_modes;
static int64_t (*g_dispatch_modes)(void); /* these three are nullable: then the functions above are asked, and nobody */
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

/* Lets torch's own functions say whether the word was read well, in a thread as it is and with a key added. */
static int VerifyWord(void) {
  static PyMethodDef method = {"word", WordAsInt, METH_NOARGS, NULL};
  PyObject* read = PyCFunction_NewEx(&method, NULL, NULL);
  PyObject* answer = read == NULL ? NULL : kpy_helper("torch_word_is", "(O)", read);
  const int good = answer == Py_True;
  Py_XDECREF(answer);
  Py_XDECREF(read);
  PyErr_Clear();
  return good;
}

static PyCFunction Question(const char* name) {
  PyObject* function = PyObject_GetAttrString(g_binding, name);
  PyCFunction pointer = NULL;
  if (function != NULL && PyCFunction_Check(function) && (PyCFunction_GetFlags(function) & METH_NOARGS)) {
    pointer = PyCFunction_GetFunction(function);
  }
  PyErr_Clear();
  Py_XDECREF(function); /* the module keeps it */
  return pointer;
}

int kpy_torch_state_init(PyObject* binding) {
  PyObject* bits;
  unsigned long long ignored, transforms;
  g_binding = binding;
  g_ask_dispatch_modes = Question("_len_torch_dispatch_stack");
  g_ask_function_modes = Question("_len_torch_function_stack");
  if (g_ask_dispatch_modes == NULL || g_ask_function_modes == NULL) return -1;
  /* C++ functions without parameters, whose names have stood since torch 2.0. */
  g_dispatch_modes = (int64_t (*)(void))kpy_torch_symbol("_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv");
  g_function_modes = (int64_t (*)(void))kpy_torch_symbol("_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv");
  g_profiled = (_Bool(*)(void))kpy_torch_symbol("_ZN5torch8autograd8profiler29isProfilerEnabledInMainThreadEv");
  bits = kpy_helper("torch_key_bits", NULL);
  if (bits == NULL || !PyArg_ParseTuple(bits, "KK", &ignored, &transforms)) {
    Py_XDECREF(bits);
    return -1;
  }
  Py_DECREF(bits);
  g_ignored = ignored;
  g_transforms = transforms;
  kpy_torch_state.known = kpy_torch_state.found = LocateWord() && VerifyWord();
  return 0;
}

uint64_t kpy_torch_added_keys(void) {
  PyObject* answer;
  uint64_t keys;
  if (KPY_LIKELY(kpy_torch_state.known)) return ReadWord();
  answer = kpy_helper("torch_added_keys", NULL);
  keys = answer == NULL ? ~(uint64_t)0 : PyLong_AsUnsignedLongLong(answer);
  Py_XDECREF(answer);
  return PyErr_Occurred() ? ~(uint64_t)0 : keys & ~g_ignored;
}

uint64_t kpy_torch_transform_keys(void) { return g_transforms; }

static int64_t Ask(int64_t (*quick)(void), PyCFunction slow) {
  PyObject* answer;
  int64_t count;
  if (KPY_LIKELY(quick != NULL)) return quick();
  answer = slow(g_binding, NULL);
  count = answer == NULL ? -1 : PyLong_AsLongLong(answer);
  Py_XDECREF(answer);
  return count;
}

int64_t kpy_torch_dispatch_modes(void) { return Ask(g_dispatch_modes, g_ask_dispatch_modes); }
int64_t kpy_torch_function_modes(void) { return Ask(g_function_modes, g_ask_function_modes); }
int kpy_torch_profiled(void) { return g_profiled != NULL && g_profiled(); }
