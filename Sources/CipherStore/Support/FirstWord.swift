/// Reads the start of SQL text.
enum SQLText {
    /// The first word of a statement, in lower case: `select` of `/* all */ SELECT * FROM note`. Blanks, comments and
    /// semicolons before it are left out.
    static func firstWord(_ sql: String) -> String? {
        var sql = sql
        // Each statement that is prepared comes here, and a buffer is the only fast way in a debug build.
        return sql.withUTF8 { bytes in
            let start = beginOfWords(bytes)
            var end = start
            while end < bytes.count, (bytes[end] | 32) >= 97, (bytes[end] | 32) <= 122 { end += 1 }
            guard end > start else { return nil }
            return String(unsafeUninitializedCapacity: end - start) { word in
                for index in start..<end { word[index - start] = bytes[index] | 32 }
                return end - start
            }
        }
    }

    private static func beginOfWords(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        func isPair(_ index: Int, _ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
            index + 1 < bytes.count && bytes[index] == UInt8(ascii: first)
                && bytes[index + 1] == UInt8(ascii: second)
        }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isPair(index, "-", "-") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if isPair(index, "/", "*") {
                index += 2
                while index < bytes.count, !isPair(index, "*", "/") { index += 1 }
                index = min(index + 2, bytes.count)
            } else if byte == 32 || (byte >= 9 && byte <= 13) || byte == UInt8(ascii: ";") {
                index += 1
            } else {
                break
            }
        }
        return index
    }
}
