/* A process that outlives a killed one only to end its FUSE connection. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Whether a killed process has threads besides its first, which stays for its parent: a directory
 * has a link for each directory in it, and two of its own. */
static inline int recordfs_has_threads(const char *tasks) {
    struct stat status;
    return stat(tasks, &status) == 0 && status.st_nlink > 3;
}

/* Lets go of the shared mappings of files, such as the index of SQLite's log: they would keep the
 * file system that holds the files busy. */
static inline void recordfs_unmap_files(void) {
    char buffer[4096];
    size_t filled = 0;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got;
    while (maps >= 0 && (got = read(maps, buffer + filled, sizeof buffer - filled)) > 0) {
        filled += (size_t)got;
        char *line = buffer, *end;
        while ((end = memchr(line, '\n', filled - (size_t)(line - buffer)))) {
            /* `7f00-7f10 rw-s 00000000 08:01 12 /path`, see proc(5). */
            char *rest;
            unsigned long from = strtoul(line, &rest, 16);
            unsigned long to = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;
            if (to > from && rest[0] == ' ' && rest[4] == 's') munmap((void *)from, to - from);
            line = end + 1;
        }
        filled -= (size_t)(line - buffer);
        memmove(buffer, line, filled);
        if (filled == sizeof buffer) break;
    }
    if (maps >= 0) close(maps);
}

/* The whole life of the guard: only calls that are safe after fork in a process with threads.
 *
 * A killed process ends when its last thread does. The one that tells the kernel of changes may
 * wait there, deaf to signals, for a lock whose owner waits for an answer of that very process:
 * neither ends then, and whoever uses the mount waits with them. */
static inline _Noreturn void recordfs_guard(
    pid_t parent, const char *tasks, const char *abort_file, const char *mountpoint) {
    sigset_t all;
    int signal = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    syscall(SYS_close_range, 0u, ~0u, 0u);
    recordfs_unmap_files();
    setsid();
    if (chdir("/") != 0) _exit(1);
    prctl(PR_SET_NAME, "fuse-guard");
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    while (getppid() == parent && signal != SIGUSR1) sigwait(&all, &signal);
    const struct timespec pause = {0, 50 * 1000 * 1000};
    for (int turn = 0; turn < 6; turn++) {
        if (!recordfs_has_threads(tasks)) _exit(0);
        nanosleep(&pause, NULL);
    }
    int file = open(abort_file, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "1", 1) != 1) umount2(mountpoint, MNT_FORCE | UMOUNT_NOFOLLOW);
    _exit(0);
}

/* Starts the guard of the calling thread, which must live as long as the connection.
 * Gives the guard's process, to be killed when the connection has ended, or -1. */
static inline pid_t recordfs_start_guard(const char *abort_file, const char *mountpoint) {
    char tasks[32];
    pid_t parent = getpid();
    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)parent);
    pid_t guard = fork();
    if (guard == 0) recordfs_guard(parent, tasks, abort_file, mountpoint);
    return guard;
}
