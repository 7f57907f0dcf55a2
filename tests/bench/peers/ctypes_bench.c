/* The function that ctypes calls: plain C on raw addresses. */
void three(const float* a, const float* b, const float* c, long n) { (void)a, (void)b, (void)c, (void)n; }
