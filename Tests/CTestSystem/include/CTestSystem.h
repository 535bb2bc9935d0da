#ifndef CTESTSYSTEM_H
#define CTESTSYSTEM_H

/* System calls of the mount tests that Swift's Glibc module does not show. */

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t test_getxattr(const char *path, const char *name, void *value, size_t size);
int test_setxattr(const char *path, const char *name, const void *value, size_t size);
ssize_t test_listxattr(const char *path, char *list, size_t size);
int test_removexattr(const char *path, const char *name);
/* The calling thread, and the programs that it starts, have a network without anything in it; needs root. */
int test_enter_own_network(void);
int test_rename(const char *from, const char *to, unsigned flags);
/* An unlinked file in `folder`, open for reading and writing. */
int test_unnamed_file(const char *folder);
/* The primary side of a new terminal of 100 x 30; the other side's path goes to `name`. */
int test_open_terminal(char *name, size_t size);
int test_spawn_directory(posix_spawn_file_actions_t *actions, const char *path);
/* Whether a file system of FUSE answers at `path`; asks its daemon, not a cache. */
int test_answers_as_fuse(const char *path);
int test_detach_mount(const char *path);
int test_unmount(const char *path);
int test_fallocate(int descriptor, int mode, int64_t offset, int64_t length);
ssize_t test_copy_range(int from, int to, size_t size);
int test_clone(int from, int to);
int64_t test_seek(int descriptor, int64_t offset, int whence);
/* Tells of each file that code of this process, SQLite's too, has put on stable storage by fsync or
   fdatasync, right after it; NULL for nobody. */
void test_observe_syncs(void (*observer)(int descriptor));
/* Texts that tell their version: a reader sees whether it got one whole. */
enum { test_version_size_max = 10000 };
size_t test_version_text(uint64_t version, char *text);
/* Writes the version to `temporary`, renames it over `path`; -1 and errno when that fails. */
int test_rename_version(const char *temporary, const char *path, uint64_t version);
struct test_reads {
    uint64_t torn, failed;
    int error; /* of the last failed call */
};
/* Opens `path`, reads once and closes it, `count` times. */
void test_read_versions(const char *path, uint64_t count, struct test_reads *result);
/* A gate that opens and reads of files have to pass (fanotify; needs root): -1 and errno on failure. */
int test_gate(void);
/* The files of a folder. */
int test_gate_watch(int gate, const char *folder);
/* The next call that waits: its process, and a number to let it pass; 0 after `milliseconds`. */
int test_gate_next(int gate, int milliseconds, pid_t *process, int *call);
int test_gate_pass(int gate, int call);
/* FICLONE, O_DIRECT, O_PATH and the modes of fallocate and lseek for Swift. */
extern const int test_o_direct, test_o_path, test_o_tmpfile;
extern const int test_seek_data, test_seek_hole;

#endif
