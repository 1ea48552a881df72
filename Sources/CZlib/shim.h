#ifndef CIPHERSTORE_CZLIB_H
#define CIPHERSTORE_CZLIB_H

#include <zlib.h>

// zlib's initializers are macros, which Swift does not import. A negative number of window bits
// stands for DEFLATE without zlib's header and checksum.

static inline int czlib_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}

static inline int czlib_inflate_init(z_stream *stream) {
    return inflateInit2(stream, -15);
}

#endif
