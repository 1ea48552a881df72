// SQLCipher declares sqlite3_key_v2 only when SQLITE_HAS_CODEC is defined before its header is read.
#ifndef BENCHMARKS_SQLCIPHER_SHIM_H
#define BENCHMARKS_SQLCIPHER_SHIM_H

#define SQLITE_HAS_CODEC 1
#include <sqlite3.h>

#endif
