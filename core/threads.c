// SPDX-License-Identifier: BSD-2-Clause
// Locks (contract in core/threads.h). The only file that knows which threads there are.
#include "core/threads.h"

#include <pthread.h>

static pthread_mutex_t locks[RITZ_NUM_LOCKS] = {
    [RITZ_LOCK_GALLERY] = PTHREAD_MUTEX_INITIALIZER,
};

void ritz_lock(RitzLock lock) { pthread_mutex_lock(&locks[lock]); }
void ritz_unlock(RitzLock lock) { pthread_mutex_unlock(&locks[lock]); }
