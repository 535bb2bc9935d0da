#define _GNU_SOURCE
#include "CTestSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const int test_o_direct = O_DIRECT, test_o_path = O_PATH, test_o_tmpfile = O_TMPFILE;
const int test_seek_data = SEEK_DATA, test_seek_hole = SEEK_HOLE;

ssize_t test_getxattr(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}

int test_setxattr(const char *path, const char *name, const void *value, size_t size) {
    return lsetxattr(path, name, value, size, 0);
}

ssize_t test_listxattr(const char *path, char *list, size_t size) {
    return llistxattr(path, list, size);
}

int test_removexattr(const char *path, const char *name) { return lremovexattr(path, name); }

int test_enter_own_network(void) { return unshare(CLONE_NEWNET); }

int test_rename(const char *from, const char *to, unsigned flags) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int test_unnamed_file(const char *folder) {
    return open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
}

int test_open_terminal(char *name, size_t size) {
    int primary = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (primary < 0) return -1;
    // Wide: editors cut a message that names a long path, and the reason with it.
    struct winsize window = {.ws_row = 30, .ws_col = 400};
    if (grantpt(primary) != 0 || unlockpt(primary) != 0 || ptsname_r(primary, name, size) != 0 ||
        ioctl(primary, TIOCSWINSZ, &window) != 0) {
        close(primary);
        return -1;
    }
    return primary;
}

int test_spawn_directory(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int test_answers_as_fuse(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 && status.f_type == 0x65735546;
}

int test_detach_mount(const char *path) { return umount2(path, MNT_DETACH); }

int test_unmount(const char *path) { return umount2(path, 0); }

int test_fallocate(int descriptor, int mode, int64_t offset, int64_t length) {
    return fallocate(descriptor, mode, offset, length);
}

ssize_t test_copy_range(int from, int to, size_t size) {
    return copy_file_range(from, NULL, to, NULL, size, 0);
}

int test_clone(int from, int to) { return ioctl(to, FICLONE, from); }

int64_t test_seek(int descriptor, int64_t offset, int whence) {
    return lseek(descriptor, offset, whence);
}

size_t test_version_text(uint64_t version, char *text) {
    size_t padding = 10 + version * 7919 % 9000;
    int head = sprintf(text, "{\"n\": %llu, \"text\": \"", (unsigned long long)version);
    memset(text + head, 'a' + version % 26, padding);
    memcpy(text + head + padding, "\"}\n", 3);
    return head + padding + 3;
}

int test_rename_version(const char *temporary, const char *path, uint64_t version) {
    char text[test_version_size_max];
    size_t size = test_version_text(version, text);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return -1;
    int wrote = write(file, text, size) == (ssize_t)size;
    if (close(file) != 0 || !wrote) return -1;
    return rename(temporary, path);
}

/* Whatever the layout between the values is; `text` ends with a NUL that does not count. */
static int is_whole_version(const char *text, size_t size) {
    unsigned long long version;
    int head = 0, tail = 0;
    char expected[test_version_size_max];
    if (sscanf(text, "{ \"n\": %llu, \"text\": \"%n", &version, &head) != 1 || head == 0) return 0;
    size_t padding = 10 + version * 7919 % 9000;
    memset(expected, 'a' + version % 26, padding);
    if (size < head + padding || memcmp(text + head, expected, padding) != 0) return 0;
    sscanf(text + head + padding, "\" } %n", &tail);
    return tail > 0 && head + padding + tail == size;
}

void test_read_versions(const char *path, uint64_t count, struct test_reads *result) {
    char text[2 * test_version_size_max];
    for (uint64_t i = 0; i < count; i++) {
        struct stat status;
        ssize_t size = -1;
        int file = open(path, O_RDONLY | O_CLOEXEC);
        /* Every other reader asks for the size first, and reads no more than that. */
        if (file >= 0 && (i % 2 || fstat(file, &status) == 0))
            size = read(file, text, i % 2 ? sizeof text - 1 : (size_t)status.st_size);
        if (size < 0) {
            result->error = errno;
            result->failed++;
        } else {
            text[size] = 0;
            if (!is_whole_version(text, size)) result->torn++;
        }
        if (file >= 0) close(file);
    }
}

int test_gate(void) { return fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC); }

int test_gate_watch(int gate, const char *folder) {
    uint64_t calls = FAN_OPEN_PERM | FAN_ACCESS_PERM | FAN_EVENT_ON_CHILD;
    return fanotify_mark(gate, FAN_MARK_ADD, calls, AT_FDCWD, folder);
}

int test_gate_next(int gate, int milliseconds, pid_t *process, int *call) {
    struct pollfd waiting = {.fd = gate, .events = POLLIN};
    int ready = poll(&waiting, 1, milliseconds);
    if (ready <= 0) return ready;
    /* Room for one event only: each has to pass by itself. */
    struct fanotify_event_metadata event;
    ssize_t size = read(gate, &event, sizeof event);
    if (size < (ssize_t)sizeof event) return -1;
    *process = event.pid;
    *call = event.fd;
    return 1;
}

int test_gate_pass(int gate, int call) {
    struct fanotify_response response = {.fd = call, .response = FAN_ALLOW};
    ssize_t size = write(gate, &response, sizeof response);
    close(call);
    return size == sizeof response ? 0 : -1;
}
