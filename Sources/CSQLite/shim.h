#include <sqlite3.h>

/// sqlite3_config takes a variable number of arguments, which Swift cannot pass.
static inline int recordfs_sqlite3_config_memstatus(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}

/// sqlite3_db_config does too. A text in double quotes is then an error and no text
/// (https://www.sqlite.org/quirks.html#dblquote).
static inline int recordfs_sqlite3_forbid_quoted_texts(sqlite3 *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0);
}
