/* Force-included (-include kernpack/glibc_compat.h) when a kernel is built for manylinux_2_28 on a newer system: binds the
 * symbols to which the C library gave a new version since 2.28 to their oldest version instead. The versions differ
 * only in errno (exp, log, pow) or in the library that contains them (dlopen, pthread_*). Has no effect on other systems. */
#ifndef KERNPACK_GLIBC_COMPAT_H_
#define KERNPACK_GLIBC_COMPAT_H_

#if defined(__linux__) && defined(__ELF__) && !defined(KP_NO_GLIBC_COMPAT)
#if defined(__x86_64__)
#define KP_OLDEST_GLIBC_ "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define KP_OLDEST_GLIBC_ "GLIBC_2.17"
#endif
#endif

#ifdef KP_OLDEST_GLIBC_
#define KP_PIN_(symbol) __asm__(".symver " #symbol "," #symbol "@" KP_OLDEST_GLIBC_)

/* 2.29 */
KP_PIN_(exp);
KP_PIN_(exp2);
KP_PIN_(log);
KP_PIN_(log2);
KP_PIN_(pow);
/* 2.34: libdl and libpthread became part of libc */
KP_PIN_(dlopen);
KP_PIN_(dlsym);
KP_PIN_(dlclose);
KP_PIN_(dlerror);
KP_PIN_(dladdr);
KP_PIN_(pthread_once);
KP_PIN_(pthread_create);
KP_PIN_(pthread_join);
KP_PIN_(pthread_detach);
KP_PIN_(pthread_key_create);
KP_PIN_(pthread_key_delete);
KP_PIN_(pthread_getspecific);
KP_PIN_(pthread_setspecific);
KP_PIN_(pthread_mutex_trylock);
KP_PIN_(pthread_mutexattr_init);
KP_PIN_(pthread_mutexattr_settype);
KP_PIN_(pthread_mutexattr_destroy);
KP_PIN_(pthread_rwlock_rdlock);
KP_PIN_(pthread_rwlock_wrlock);
KP_PIN_(pthread_rwlock_unlock);
KP_PIN_(sem_init);
KP_PIN_(sem_post);
KP_PIN_(sem_wait);
KP_PIN_(sem_destroy);
/* 2.32: libstdc++'s shared_ptr asks this before it counts without atomics. 0 is always right: "there may be threads". */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak, visibility("hidden"))) char __libc_single_threaded = 0;
#ifdef __cplusplus
}
#endif

#undef KP_PIN_
#undef KP_OLDEST_GLIBC_
#endif

#endif /* KERNPACK_GLIBC_COMPAT_H_ */
