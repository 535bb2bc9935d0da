// Calls of Linux that Swift's Glibc module leaves out: extended attributes, which it does not
// include, the settings of its allocator, and calls that glibc declares only with _GNU_SOURCE, which
// the module does not define.
#include <malloc.h>
#include <sys/types.h>
#include <sys/xattr.h>

pid_t gettid(void);
int renameat2(int, const char *, int, const char *, unsigned int);
int fallocate(int, int, off_t, off_t);
ssize_t copy_file_range(int, off_t *, int, off_t *, size_t, unsigned int);
int syncfs(int);
