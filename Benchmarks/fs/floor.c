/*
 * The floor: a file system that answers everything from memory, as fast as libfuse's low-level
 * interface allows. What RecordFS costs is measured against it.
 *
 *   floor [--count N] [--size BYTES] [--no-xattr] MOUNTPOINT
 *
 * The directory MOUNTPOINT/Note starts with N files note-0000000.json ... of BYTES bytes.
 * Everything else (mkdir, create, write, rename, unlink) works and is lost at unmount. The kernel
 * may cache for an hour what it got. One thread, in the foreground, until unmounted.
 */
#define FUSE_USE_VERSION 314
#define _GNU_SOURCE
#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "content.h"

#define HOUR 3600.0

/* A node keeps its number for ever; numbers are indexes into `nodes`. */
struct node {
    char *name;
    char *data;
    size_t size;
    size_t capacity; /* 0: the data is the shared template */
    struct timespec changed;
    uint32_t parent;
    uint32_t in_bucket;       /* next node with the same hash */
    uint32_t next, previous;  /* in the directory */
    uint32_t first, last;     /* of a directory: its entries */
    uint32_t mode;
};

static struct node *nodes;
static uint32_t node_count, node_room;
static uint32_t *buckets;
static uint32_t bucket_count; /* a power of two */
static char *template_data;
static size_t template_size = 300;
static int no_xattr;

/* ---- the tree ---- */

static uint32_t hash(uint32_t parent, const char *name) {
    uint64_t value = 14695981039346656037u ^ parent;
    for (; *name; name++) value = (value ^ (unsigned char)*name) * 1099511628211u;
    return (uint32_t)(value ^ value >> 32) & (bucket_count - 1);
}

static uint32_t find(uint32_t parent, const char *name) {
    uint32_t at = buckets[hash(parent, name)];
    while (at && (nodes[at].parent != parent || strcmp(nodes[at].name, name) != 0))
        at = nodes[at].in_bucket;
    return at;
}

static void grow_buckets(void) {
    bucket_count *= 2;
    free(buckets);
    buckets = calloc(bucket_count, sizeof *buckets);
    if (!buckets) abort();
    for (uint32_t at = 2; at < node_count; at++) {
        if (!nodes[at].parent) continue;
        uint32_t *bucket = &buckets[hash(nodes[at].parent, nodes[at].name)];
        nodes[at].in_bucket = *bucket;
        *bucket = at;
    }
}

static void insert(uint32_t at, uint32_t parent, char *name) {
    struct node *node = &nodes[at], *directory = &nodes[parent];
    node->name = name;
    node->parent = parent;
    uint32_t *bucket = &buckets[hash(parent, name)];
    node->in_bucket = *bucket;
    *bucket = at;
    node->previous = directory->last;
    node->next = 0;
    if (directory->last) nodes[directory->last].next = at;
    else directory->first = at;
    directory->last = at;
    directory->changed = node->changed;
}

/* The node's own `next` stays, so that a listing that has come to it goes on. */
static void detach(uint32_t at) {
    struct node *node = &nodes[at], *directory = &nodes[node->parent];
    uint32_t *link = &buckets[hash(node->parent, node->name)];
    while (*link != at) link = &nodes[*link].in_bucket;
    *link = node->in_bucket;
    if (node->previous) nodes[node->previous].next = node->next;
    else directory->first = node->next;
    if (node->next) nodes[node->next].previous = node->previous;
    else directory->last = node->previous;
    node->parent = 0;
}

static void discard(uint32_t at) {
    detach(at);
    free(nodes[at].name);
    nodes[at].name = NULL;
}

static uint32_t make(uint32_t parent, const char *name, uint32_t mode) {
    if (node_count == node_room) {
        node_room *= 2;
        nodes = realloc(nodes, node_room * sizeof *nodes);
        if (!nodes) abort();
    }
    if (node_count > bucket_count) grow_buckets();
    uint32_t at = node_count++;
    memset(&nodes[at], 0, sizeof nodes[at]);
    nodes[at].mode = mode;
    clock_gettime(CLOCK_REALTIME_COARSE, &nodes[at].changed);
    if (name) insert(at, parent, strdup(name));
    return at;
}

/* Gives the node memory of its own for `size` bytes. */
static void reserve(struct node *node, size_t size) {
    if (node->capacity >= size && node->capacity > 0) return;
    size_t capacity = size < 512 ? 512 : size * 2;
    char *data = malloc(capacity);
    if (!data) abort();
    if (node->size) memcpy(data, node->data, node->size);
    if (node->capacity) free(node->data);
    node->data = data;
    node->capacity = capacity;
}

static void resize(struct node *node, size_t size) {
    reserve(node, size);
    if (size > node->size) memset(node->data + node->size, 0, size - node->size);
    node->size = size;
}

/* ---- answers ---- */

static void fill(uint32_t at, struct stat *status) {
    const struct node *node = &nodes[at];
    memset(status, 0, sizeof *status);
    status->st_ino = at;
    status->st_mode = node->mode;
    status->st_nlink = S_ISDIR(node->mode) ? 2 : 1;
    status->st_uid = getuid();
    status->st_gid = getgid();
    status->st_size = (off_t)node->size;
    status->st_blocks = (off_t)(node->size + 511) / 512;
    status->st_mtim = status->st_ctim = status->st_atim = node->changed;
}

static struct fuse_entry_param entry(uint32_t at) {
    struct fuse_entry_param entry = {
        .ino = at, .attr_timeout = HOUR, .entry_timeout = HOUR};
    if (at) fill(at, &entry.attr);
    return entry;
}

static void on_init(void *context, struct fuse_conn_info *connection) {
    (void)context;
    connection->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_READDIRPLUS_AUTO);
    connection->want |= connection->capable
        & (FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_HANDLE_KILLPRIV);
}

/*
 * libfuse 3.14 does not pass FUSE_CAP_HANDLE_KILLPRIV on, as RecordFS does: the answer to INIT, the
 * first message, gets the flag here.
 */
static ssize_t answer(int file, struct iovec *parts, int count, void *context) {
    static int is_told;
    (void)context;
    if (!is_told && count == 2 && parts[1].iov_len >= 16) {
        uint32_t *words = parts[1].iov_base;
        words[3] |= 1u << 19; /* FUSE_HANDLE_KILLPRIV */
        is_told = 1;
    }
    return writev(file, parts, count);
}

static ssize_t receive(int file, void *buffer, size_t size, void *context) {
    (void)context;
    return read(file, buffer, size);
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
    struct fuse_entry_param found = entry(find((uint32_t)parent, name));
    fuse_reply_entry(request, &found);
}

static void on_getattr(fuse_req_t request, fuse_ino_t at, struct fuse_file_info *info) {
    (void)info;
    struct stat status;
    fill((uint32_t)at, &status);
    fuse_reply_attr(request, &status, HOUR);
}

static void on_setattr(fuse_req_t request, fuse_ino_t at, struct stat *wanted, int set,
                       struct fuse_file_info *info) {
    (void)info;
    struct node *node = &nodes[at];
    if (set & FUSE_SET_ATTR_SIZE) resize(node, (size_t)wanted->st_size);
    if (set & FUSE_SET_ATTR_MODE) node->mode = wanted->st_mode;
    if (set & FUSE_SET_ATTR_MTIME) node->changed = wanted->st_mtim;
    on_getattr(request, at, info);
}

static void on_mkdir(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode) {
    if (find((uint32_t)parent, name)) {
        fuse_reply_err(request, EEXIST);
        return;
    }
    struct fuse_entry_param made = entry(make((uint32_t)parent, name, S_IFDIR | mode));
    fuse_reply_entry(request, &made);
}

static void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name) {
    uint32_t at = find((uint32_t)parent, name);
    if (at && nodes[at].first) {
        fuse_reply_err(request, ENOTEMPTY);
        return;
    }
    if (at) discard(at);
    fuse_reply_err(request, at ? 0 : ENOENT);
}

static void on_rename(fuse_req_t request, fuse_ino_t parent, const char *name,
                      fuse_ino_t new_parent, const char *new_name, unsigned flags) {
    uint32_t at = find((uint32_t)parent, name);
    uint32_t old = find((uint32_t)new_parent, new_name);
    int error = !at ? ENOENT : flags > 1 ? EINVAL : old && flags == 1 ? EEXIST : 0;
    if (!error && old != at) {
        if (old) discard(old);
        char *former = nodes[at].name;
        detach(at);
        insert(at, (uint32_t)new_parent, strdup(new_name));
        free(former);
    }
    fuse_reply_err(request, error);
}

static void on_open(fuse_req_t request, fuse_ino_t at, struct fuse_file_info *info) {
    if (info->flags & O_TRUNC) resize(&nodes[at], 0);
    info->keep_cache = 1;
    info->noflush = (info->flags & O_ACCMODE) == O_RDONLY;
    fuse_reply_open(request, info);
}

static void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *info) {
    uint32_t at = find((uint32_t)parent, name);
    if (!at) at = make((uint32_t)parent, name, S_IFREG | (mode & 07777));
    info->keep_cache = 1;
    struct fuse_entry_param made = entry(at);
    fuse_reply_create(request, &made, info);
}

static void on_read(fuse_req_t request, fuse_ino_t at, size_t size, off_t offset,
                    struct fuse_file_info *info) {
    (void)info;
    const struct node *node = &nodes[at];
    size_t start = (size_t)offset < node->size ? (size_t)offset : node->size;
    size_t length = node->size - start < size ? node->size - start : size;
    fuse_reply_buf(request, node->data + start, length);
}

static void on_write(fuse_req_t request, fuse_ino_t at, const char *data, size_t size,
                     off_t offset, struct fuse_file_info *info) {
    (void)info;
    struct node *node = &nodes[at];
    if ((size_t)offset + size > node->size) resize(node, (size_t)offset + size);
    else reserve(node, node->size);
    memcpy(node->data + offset, data, size);
    clock_gettime(CLOCK_REALTIME_COARSE, &node->changed);
    fuse_reply_write(request, size);
}

static void on_close(fuse_req_t request, fuse_ino_t at, struct fuse_file_info *info) {
    (void)at, (void)info;
    fuse_reply_err(request, 0);
}

static void on_fsync(fuse_req_t request, fuse_ino_t at, int data, struct fuse_file_info *info) {
    (void)data;
    on_close(request, at, info);
}

static void on_opendir(fuse_req_t request, fuse_ino_t at, struct fuse_file_info *info) {
    (void)at;
    info->keep_cache = info->cache_readdir = 1;
    fuse_reply_open(request, info);
}

static void list(fuse_req_t request, fuse_ino_t directory, size_t size, off_t offset, int plus) {
    char *buffer = malloc(size);
    if (!buffer) abort();
    size_t used = 0;
    uint32_t at = offset ? nodes[offset].next : nodes[directory].first;
    while (at && !nodes[at].parent) at = nodes[at].next;
    for (; at; at = nodes[at].next) {
        struct fuse_entry_param found = entry(at);
        size_t length =
            plus ? fuse_add_direntry_plus(
                       request, buffer + used, size - used, nodes[at].name, &found, at)
                 : fuse_add_direntry(
                       request, buffer + used, size - used, nodes[at].name, &found.attr, at);
        if (length > size - used) break;
        used += length;
    }
    fuse_reply_buf(request, buffer, used);
    free(buffer);
}

static void on_readdir(fuse_req_t request, fuse_ino_t at, size_t size, off_t offset,
                       struct fuse_file_info *info) {
    (void)info;
    list(request, at, size, offset, 0);
}

static void on_readdirplus(fuse_req_t request, fuse_ino_t at, size_t size, off_t offset,
                           struct fuse_file_info *info) {
    (void)info;
    list(request, at, size, offset, 1);
}

static void on_getxattr(fuse_req_t request, fuse_ino_t at, const char *name, size_t size) {
    (void)at, (void)name, (void)size;
    fuse_reply_err(request, no_xattr ? ENOSYS : ENODATA);
}

static void on_listxattr(fuse_req_t request, fuse_ino_t at, size_t size) {
    (void)at;
    if (no_xattr) fuse_reply_err(request, ENOSYS);
    else if (size) fuse_reply_buf(request, NULL, 0);
    else fuse_reply_xattr(request, 0);
}

static const struct fuse_lowlevel_ops operations = {
    .init = on_init, .lookup = on_lookup, .getattr = on_getattr, .setattr = on_setattr,
    .mkdir = on_mkdir, .unlink = on_unlink, .rmdir = on_unlink, .rename = on_rename,
    .open = on_open, .create = on_create, .read = on_read, .write = on_write,
    .flush = on_close, .release = on_close, .fsync = on_fsync, .opendir = on_opendir,
    .readdir = on_readdir, .readdirplus = on_readdirplus, .getxattr = on_getxattr,
    .listxattr = on_listxattr,
};

/* ---- start ---- */

static void fill_tree(uint32_t count) {
    node_room = count + 1024;
    nodes = calloc(node_room, sizeof *nodes);
    for (bucket_count = 1024; bucket_count < count; bucket_count *= 2) {}
    buckets = calloc(bucket_count, sizeof *buckets);
    template_data = malloc(template_size);
    if (!nodes || !buckets || !template_data) abort();
    content_fill(template_data, template_size, 0, 0);
    node_count = 1; /* there is no node 0 */
    make(0, NULL, S_IFDIR | 0755);
    uint32_t directory = make(1, "Note", S_IFDIR | 0755);
    for (uint32_t number = 0; number < count; number++) {
        char name[CONTENT_NAME];
        content_name(name, number);
        struct node *node = &nodes[make(directory, name, S_IFREG | 0644)];
        node->data = template_data;
        node->size = template_size;
    }
}

int main(int count, char **words) {
    uint32_t files = 0;
    const char *mountpoint = NULL;
    for (int at = 1; at < count; at++) {
        if (strcmp(words[at], "--no-xattr") == 0) no_xattr = 1;
        else if (strcmp(words[at], "--count") == 0 && at + 1 < count)
            files = (uint32_t)strtoul(words[++at], NULL, 10);
        else if (strcmp(words[at], "--size") == 0 && at + 1 < count)
            template_size = strtoul(words[++at], NULL, 10);
        else mountpoint = words[at];
    }
    if (!mountpoint) {
        fprintf(stderr, "usage: floor [--count N] [--size BYTES] [--no-xattr] MOUNTPOINT\n");
        return 2;
    }
    fill_tree(files);
    char *options[] = {"floor", "-o", "fsname=floor,subtype=floor"};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, options);
    struct fuse_session *session =
        fuse_session_new(&arguments, &operations, sizeof operations, NULL);
    if (!session || fuse_session_mount(session, mountpoint) != 0) return 1;
    struct fuse_custom_io io = {.writev = answer, .read = receive};
    fuse_session_custom_io(session, &io, fuse_session_fd(session));
    int result = fuse_session_loop(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
    return result < 0;
}
