/* What the rows of one zone cost in bare SQLite: the baseline of scripts/bench server.
 *
 * usage: bare SOURCE TARGET ZONE BATCH
 *
 * Reads the records of a zone, with their index rows, from the server's database into memory, makes
 * an empty database with the same tables and indexes, and inserts the same rows with prepared
 * statements, BATCH records a transaction, in the order in which the server got them, with the
 * server's journal mode and synchronisation. Prints records a second.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *source, *target;

static void check(int code, sqlite3 *database, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "bare: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static void run(sqlite3 *database, const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL), database, sql);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), database, sql);
    return statement;
}

/* All rows of one table that belong to the zone, with the place of their record in the feed. */
struct table {
    const char *name, *select;
    int columns, count, capacity, next;
    sqlite3_value **values;
    int *places;
    sqlite3_stmt *insert;
};

static struct table tables[] = {
    {.name = "records",
     .select = "SELECT r.rank, t.* FROM ranks r JOIN main.records t ON t.id = r.id "
               "ORDER BY r.rank"},
    {.name = "index_entries",
     .select = "SELECT r.rank, t.* FROM main.index_entries t JOIN ranks r ON r.id = t.record "
               "WHERE t.zone = ?1 ORDER BY r.rank"},
    {.name = "index_lists",
     .select = "SELECT r.rank, t.* FROM ranks r JOIN main.index_lists t ON t.record = r.id "
               "ORDER BY r.rank"},
};
enum { TABLES = sizeof tables / sizeof *tables };

static void load(struct table *table, sqlite3_int64 zone) {
    sqlite3_stmt *statement = prepare(source, table->select);
    if (sqlite3_bind_parameter_count(statement)) sqlite3_bind_int64(statement, 1, zone);
    table->columns = sqlite3_column_count(statement) - 1;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (table->count == table->capacity) {
            table->capacity = table->capacity ? table->capacity * 2 : 1024;
            table->values = realloc(
                table->values, sizeof(sqlite3_value *) * table->capacity * table->columns);
            table->places = realloc(table->places, sizeof(int) * table->capacity);
            if (!table->values || !table->places) abort();
        }
        table->places[table->count] = sqlite3_column_int(statement, 0);
        for (int column = 0; column < table->columns; column++)
            table->values[table->count * table->columns + column] =
                sqlite3_value_dup(sqlite3_column_value(statement, column + 1));
        table->count++;
    }
    check(code, source, table->name);
    sqlite3_finalize(statement);
}

static void copy_schema(void) {
    sqlite3_stmt *statement = prepare(
        source, "SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE "
                "'sqlite_%' AND type IN ('table', 'index') ORDER BY type DESC");
    while (sqlite3_step(statement) == SQLITE_ROW)
        run(target, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void prepare_insert(struct table *table) {
    char sql[1024];
    int length = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table->name);
    for (int column = 1; column < table->columns; column++)
        length += snprintf(sql + length, sizeof sql - length, ",?");
    snprintf(sql + length, sizeof sql - length, ")");
    table->insert = prepare(target, sql);
}

static void insert_up_to(struct table *table, int place) {
    while (table->next < table->count && table->places[table->next] <= place) {
        for (int column = 0; column < table->columns; column++)
            sqlite3_bind_value(table->insert, column + 1,
                               table->values[table->next * table->columns + column]);
        check(sqlite3_step(table->insert), target, table->name);
        sqlite3_reset(table->insert);
        table->next++;
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: bare SOURCE TARGET ZONE BATCH\n");
        return 2;
    }
    int batch = atoi(arguments[4]);
    check(sqlite3_open_v2(arguments[1], &source, SQLITE_OPEN_READWRITE, NULL), source, "source");
    check(sqlite3_open(arguments[2], &target), target, "target");
    sqlite3_stmt *find = prepare(
        source, "SELECT id FROM zones WHERE name = CAST(?1 AS BLOB) AND deleted = 0");
    sqlite3_bind_text(find, 1, arguments[3], -1, SQLITE_STATIC);
    check(sqlite3_step(find) == SQLITE_ROW ? SQLITE_ROW : SQLITE_ERROR, source, "no such zone");
    sqlite3_int64 zone = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    char sql[256];
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE ranks AS SELECT row_number() OVER (ORDER BY position) AS rank, id "
             "FROM main.records WHERE zone = %lld AND deleted = 0 ORDER BY position",
             zone);
    run(source, sql);
    run(source, "CREATE INDEX temp.ranks_id ON ranks (id)");
    run(target, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096");
    copy_schema();
    for (int index = 0; index < TABLES; index++) {
        load(&tables[index], zone);
        prepare_insert(&tables[index]);
    }
    sqlite3_stmt *bump = prepare(target, "UPDATE zones SET position = ?1 WHERE id = ?2");
    int records = tables[0].count;
    if (!records) check(SQLITE_ERROR, source, "the zone is empty");
    double start = now();
    for (int end = batch; end < records + batch; end += batch) {
        run(target, "BEGIN IMMEDIATE");
        for (int index = 0; index < TABLES; index++) insert_up_to(&tables[index], end);
        sqlite3_bind_int64(bump, 1, end);
        sqlite3_bind_int64(bump, 2, zone);
        check(sqlite3_step(bump), target, "zones");
        sqlite3_reset(bump);
        run(target, "COMMIT");
    }
    double elapsed = now() - start;
    printf("%.1f\n", records / elapsed);
    return 0;
}
