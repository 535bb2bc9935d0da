/*
 * The files of the benchmark: the same names and bytes for every file system measured.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CONTENT_NAME 32

static inline void content_name(char *name, unsigned number) {
    snprintf(name, CONTENT_NAME, "note-%07u.json", number);
}

/*
 * A JSON object of exactly `size` bytes (at least 128): what file `number` holds after it was saved
 * `generation` times.
 */
static inline void content_fill(char *into, size_t size, unsigned number, unsigned generation) {
    char head[128];
    int length = snprintf(
        head, sizeof head,
        "{\n  \"title\": \"Note %07u\",\n  \"number\": %u,\n  \"generation\": %u,\n"
        "  \"body\": \"",
        number, number, generation);
    static const char tail[] = "\"\n}\n";
    size_t end = size - (sizeof tail - 1);
    memcpy(into, head, (size_t)length);
    for (size_t at = (size_t)length; at < end; at++)
        into[at] = (at + number) % 8 == 0 ? ' ' : (char)('a' + (at * 7 + number) % 26);
    memcpy(into + end, tail, sizeof tail - 1);
}

#endif
