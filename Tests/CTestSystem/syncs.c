#define _GNU_SOURCE
#include "CTestSystem.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*sync_observer)(int descriptor);
static _Atomic(sync_observer) current;

void test_observe_syncs(void (*observer)(int descriptor)) { atomic_store(&current, observer); }

static int sync_and_tell(long call, int descriptor) {
    int result = (int)syscall(call, descriptor);
    sync_observer observer = atomic_load(&current);
    if (result == 0 && observer) observer(descriptor);
    return result;
}

/* In place of those of the C library, for all that is linked into the tests. */
int fsync(int descriptor) { return sync_and_tell(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_and_tell(SYS_fdatasync, descriptor); }
