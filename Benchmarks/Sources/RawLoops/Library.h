// The SQLite that the loops run on: SQLCipher, or with RAW_LOOPS_PLAIN the system's own, which the
// package in ../../Peer compiles these files for.
#ifndef RAW_LOOPS_LIBRARY_H
#define RAW_LOOPS_LIBRARY_H

#ifndef RAW_LOOPS_PLAIN
#define SQLITE_HAS_CODEC 1
#endif
#include <sqlite3.h>

#endif
