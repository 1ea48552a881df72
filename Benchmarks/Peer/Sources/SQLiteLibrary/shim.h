#ifndef PEER_BENCHMARKS_SQLITE_SHIM_H
#define PEER_BENCHMARKS_SQLITE_SHIM_H

#include <sqlite3.h>

#endif
