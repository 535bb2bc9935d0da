// What the rows of 200-record modify requests cost in SQLite itself: the floor under the server.
//
//     cc -O2 -o bare_rows bare_rows.c -lsqlite3
//     bare_rows DATABASE BATCHES RECORDS ENTRIES FIELD_BYTES
//
// DATABASE is a records.sqlite that the server has made, so that tables and indexes are its own.
// Each batch is one transaction (WAL, synchronous FULL, the server's page cache and checkpoints)
// that inserts RECORDS new records with ENTRIES index entries each and moves the zone's position.
// Prints records a second and the median and 99th percentile of a batch in microseconds.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;

static void fail(const char *what) {
    fprintf(stderr, "bare_rows: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *sql) {
    if (sqlite3_exec(database, sql, 0, 0, 0) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, 0) != SQLITE_OK) fail(sql);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("step");
    sqlite3_reset(statement);
}

static double microseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

// A record name as clients make them: 36 characters without order.
static void name(char *text, unsigned long long number) {
    unsigned long long mixed = number * 0x9E3779B97F4A7C15ull;
    snprintf(
        text, 37, "%08llX-%04llX-4000-8000-%012llX", mixed >> 32, mixed >> 16 & 0xFFFF,
        number & 0xFFFFFFFFFFFFull);
}

static long long zone(void) {
    run("INSERT INTO databases (container, environment, owner)"
        " VALUES (CAST('iCloud.bare' AS BLOB), 0, randomblob(33))");
    run("INSERT INTO zones (database, name, incarnation)"
        " VALUES (last_insert_rowid(), CAST('Work' AS BLOB), 1)");
    return sqlite3_last_insert_rowid(database);
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: bare_rows DATABASE BATCHES RECORDS ENTRIES FIELD_BYTES\n");
        return 2;
    }
    int batches = atoi(arguments[2]), records = atoi(arguments[3]);
    int entries = atoi(arguments[4]), bytes = atoi(arguments[5]);
    if (sqlite3_open(arguments[1], &database) != SQLITE_OK) fail("open");
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000;"
        "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;");
    long long in = zone();
    sqlite3_stmt *record = prepare(
        "INSERT INTO records (tag, position, has_assets, created, created_by, created_on,"
        " modified, modified_by, modified_on, short_guid, fields, zone, name, type, deleted,"
        " parent, share) VALUES (?1, ?1, 0, 1767225600000, 1, 2, 1767225600000, 1, 2, NULL, ?2,"
        " ?3, ?4, 3, 0, NULL, NULL)");
    sqlite3_stmt *entry = prepare(
        "INSERT OR IGNORE INTO index_entries (zone, type, field, kind, key, name, record)"
        " VALUES (?1, 3, ?2, 1, ?3, ?4, ?5)");
    sqlite3_stmt *list = prepare(
        "INSERT OR REPLACE INTO index_lists (record, entries) VALUES (?1, ?2)");
    sqlite3_stmt *move = prepare("UPDATE zones SET position = ?1, record_count = ?1 WHERE id = ?2");
    char *fields = malloc(bytes + 1), *keys = calloc(entries + 1, 24), text[40], key[24];
    double *times = malloc(sizeof *times * (batches + 1)), start = microseconds();
    memset(fields, 'x', bytes);
    long long position = 0;
    for (int batch = 0; batch < batches; batch++) {
        double begin = microseconds();
        run("BEGIN IMMEDIATE");
        for (int index = 0; index < records; index++) {
            name(text, ++position);
            sqlite3_bind_int64(record, 1, position);
            sqlite3_bind_blob(record, 2, fields, bytes, SQLITE_STATIC);
            sqlite3_bind_int64(record, 3, in);
            sqlite3_bind_blob(record, 4, text, 36, SQLITE_STATIC);
            step(record);
            long long row = sqlite3_last_insert_rowid(database);
            for (int field = 0; field < entries; field++) {
                int length = snprintf(key, sizeof key, "value %d", rand());
                sqlite3_bind_int64(entry, 1, in);
                sqlite3_bind_int64(entry, 2, 10 + field);
                sqlite3_bind_blob(entry, 3, key, length, SQLITE_STATIC);
                sqlite3_bind_blob(entry, 4, text, 36, SQLITE_STATIC);
                sqlite3_bind_int64(entry, 5, row);
                step(entry);
            }
            if (entries == 0) continue;
            sqlite3_bind_int64(list, 1, row);
            sqlite3_bind_blob(list, 2, keys, entries * 18, SQLITE_STATIC);
            step(list);
        }
        sqlite3_bind_int64(move, 1, position);
        sqlite3_bind_int64(move, 2, in);
        step(move);
        run("COMMIT");
        times[batch] = microseconds() - begin;
    }
    double seconds = (microseconds() - start) / 1e6;
    qsort(times, batches, sizeof *times, ascending);
    printf(
        "{\"recordsPerSecond\": %.0f, \"batchMedianMicroseconds\": %.0f,"
        " \"batchP99Microseconds\": %.0f}\n",
        position / seconds, times[batches / 2], times[batches * 99 / 100]);
    return 0;
}
