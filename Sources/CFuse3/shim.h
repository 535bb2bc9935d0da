#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>

/* Names from Swift are counted, libfuse wants them terminated. A name of 256 bytes or more, which
 * no directory may hold, is cut: the kernel would refuse the whole answer because of it. */
static inline void recordfs_copy_name(char *into, const void *name, size_t length) {
    if (length > 255) length = 255;
    if (length > 0) memcpy(into, name, length);
    into[length] = '\0';
}

/* Both give the length of the entry, or one greater than `space` when it does not fit. */
static inline size_t recordfs_add_entry(
    fuse_req_t request, char *buffer, size_t space, const void *name, size_t length,
    fuse_ino_t inode, mode_t mode, off_t next) {
    char terminated[256];
    struct stat status;
    recordfs_copy_name(terminated, name, length);
    memset(&status, 0, sizeof status);
    status.st_ino = inode;
    status.st_mode = mode;
    return fuse_add_direntry(request, buffer, space, terminated, &status, next);
}

static inline size_t recordfs_add_entry_plus(
    fuse_req_t request, char *buffer, size_t space, const void *name, size_t length,
    const struct fuse_entry_param *entry, off_t next) {
    char terminated[256];
    recordfs_copy_name(terminated, name, length);
    return fuse_add_direntry_plus(request, buffer, space, terminated, entry, next);
}

/* Variadic functions do not reach Swift. Shown by ps and debuggers; at most 15 bytes count. */
static inline void recordfs_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* The number of processors that this thread may use, 1 when that is not known. The macros of sched.h
   need _GNU_SOURCE, which Swift does not define for modules. */
static inline int recordfs_processor_count(void) {
    unsigned long processors[128] = {0};
    int count = 0;
    if (syscall(SYS_sched_getaffinity, 0, sizeof processors, processors) <= 0) return 1;
    for (int at = 0; at < 128; at++) count += __builtin_popcountl(processors[at]);
    return count;
}

/* The signal that this process gets when the thread ends that started it. */
static inline void recordfs_signal_at_death(int signal) {
    prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
}

/* glibc declares both only with _GNU_SOURCE. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);

/* splice(2), which fcntl.h shows only to those who define _GNU_SOURCE before everything else. */
static inline ssize_t recordfs_splice(
    int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags) {
    return syscall(SYS_splice, from, from_offset, to, to_offset, length, flags);
}
