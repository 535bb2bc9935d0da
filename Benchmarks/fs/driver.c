/*
 * Does one kind of work on the files of the benchmark and prints the seconds that it took.
 *
 *   driver create|fsync|replace|read|stat|unlink DIRECTORY FIRST COUNT [STRIDE [SIZE [GENERATION]]]
 *   driver scan DIRECTORY
 *   driver generate FILE FIRST COUNT - SIZE       (NDJSON for an import; prints nothing)
 *
 *   create   open, write, close of a new file         fsync    the same, with fsync before close
 *   replace  write a temporary file, rename it over   read     open, fstat, read to the end, close
 *   scan     readdir, and lstat of each entry; prints the number of entries as well
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "content.h"

static size_t size = 300;
static unsigned generation = 0;
static char *buffer;
static const size_t room = 1 << 20;

static void fail(const char *what, const char *name) {
    fprintf(stderr, "driver: %s %s: %s\n", what, name, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void save(int directory, const char *name, unsigned number, int flags, int sync) {
    content_fill(buffer, size, number, generation);
    int file = openat(directory, name, O_WRONLY | O_CREAT | flags, 0644);
    if (file < 0) fail("open", name);
    if (write(file, buffer, size) != (ssize_t)size) fail("write", name);
    if (sync && fsync(file) != 0) fail("fsync", name);
    if (close(file) != 0) fail("close", name);
}

static void create_one(int directory, const char *name, unsigned number) {
    save(directory, name, number, O_EXCL, 0);
}

static void fsync_one(int directory, const char *name, unsigned number) {
    save(directory, name, number, O_EXCL, 1);
}

static void replace_one(int directory, const char *name, unsigned number) {
    char temporary[CONTENT_NAME + 8];
    snprintf(temporary, sizeof temporary, ".%s.tmp", name);
    save(directory, temporary, number, O_EXCL, 0);
    if (renameat(directory, temporary, directory, name) != 0) fail("rename", name);
}

static void read_one(int directory, const char *name, unsigned number) {
    (void)number;
    int file = openat(directory, name, O_RDONLY);
    if (file < 0) fail("open", name);
    struct stat status;
    if (fstat(file, &status) != 0) fail("fstat", name);
    ssize_t length, total = 0;
    while ((length = read(file, buffer, room)) > 0) total += length;
    if (length < 0) fail("read", name);
    if (total != status.st_size || total == 0) {
        fprintf(stderr, "driver: %s: read %zd of %lld bytes\n", name, total,
                (long long)status.st_size);
        exit(1);
    }
    close(file);
}

static void stat_one(int directory, const char *name, unsigned number) {
    (void)number;
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) fail("stat", name);
}

static void unlink_one(int directory, const char *name, unsigned number) {
    (void)number;
    if (unlinkat(directory, name, 0) != 0) fail("unlink", name);
}

static void scan(const char *path) {
    double start = now();
    DIR *directory = opendir(path);
    if (!directory) fail("opendir", path);
    struct dirent *entry;
    long count = 0;
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        stat_one(dirfd(directory), entry->d_name, 0);
        count++;
    }
    closedir(directory);
    printf("%.9f %ld\n", now() - start, count);
}

static void generate(const char *path, unsigned first, unsigned count) {
    FILE *file = fopen(path, "w");
    if (!file) fail("open", path);
    for (unsigned number = first; number < first + count; number++) {
        content_fill(buffer, size, number, generation);
        for (size_t at = 0; at < size; at++)
            if (buffer[at] == '\n') buffer[at] = ' ';
        fprintf(file, "{\"$name\": \"note-%07u\", %.*s\n", number, (int)size - 1, buffer + 1);
    }
    if (fclose(file) != 0) fail("close", path);
}

static const struct {
    const char *name;
    void (*work)(int directory, const char *name, unsigned number);
} kinds[] = {
    {"create", create_one}, {"fsync", fsync_one}, {"replace", replace_one},
    {"read", read_one},     {"stat", stat_one},   {"unlink", unlink_one},
};

int main(int count, char **words) {
    buffer = malloc(room);
    if (count == 3 && buffer && strcmp(words[1], "scan") == 0) {
        scan(words[2]);
        return 0;
    }
    if (count < 5 || !buffer) {
        fprintf(stderr, "usage: driver KIND DIRECTORY FIRST COUNT [STRIDE [SIZE [GENERATION]]]\n");
        return 2;
    }
    unsigned first = (unsigned)atol(words[3]), files = (unsigned)atol(words[4]);
    unsigned stride = count > 5 ? (unsigned)atol(words[5]) : 1;
    if (count > 6) size = strtoul(words[6], NULL, 10);
    if (count > 7) generation = (unsigned)atol(words[7]);
    if (size < 128 || size > room) return 2;
    if (strcmp(words[1], "generate") == 0) {
        generate(words[2], first, files);
        return 0;
    }
    int directory = open(words[2], O_RDONLY | O_DIRECTORY);
    if (directory < 0) fail("open", words[2]);
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        if (strcmp(words[1], kinds[at].name) != 0) continue;
        double start = now();
        for (unsigned done = 0; done < files; done++) {
            char name[CONTENT_NAME];
            content_name(name, first + done * stride);
            kinds[at].work(directory, name, first + done * stride);
        }
        printf("%.9f\n", now() - start);
        return 0;
    }
    fprintf(stderr, "driver: no work called %s\n", words[1]);
    return 2;
}
