/* exit_group(0) and nothing else: no libc, no relocations. */
__attribute__((noreturn)) void _start(void) {
  __asm__ volatile("xor %%edi, %%edi\n\tmov $231, %%eax\n\tsyscall" ::: "rax", "rdi");
  __builtin_unreachable();
}
