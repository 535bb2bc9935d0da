#include <sqlite3.h>

/// sqlite3_config takes a variable number of arguments, which Swift cannot pass.
static inline int recordfs_sqlite3_config_memstatus(int isOn) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, isOn);
}
