/// Hides values in texts that may be logged: those that are literals because their statement can have no more
/// arguments.
package enum ValueRedaction {
    /// The comment that is written before the first of them.
    package static let mark = "/* hidden values */"

    /// Returns the SQL up to its values, or nil when there is none to hide.
    ///
    /// What follows the values goes with them: who reads a log misses little of a statement with hundreds of arguments.
    package static func redacted(_ sql: String) -> String? {
        var text = sql
        let start: Int? = text.withUTF8 { bytes in
            bytes.indices.first { index in
                bytes[index] == UInt8(ascii: "/") && bytes[index...].starts(with: mark.utf8)
            }
        }
        guard let start else { return nil }
        return String(decoding: text.utf8.prefix(start + mark.utf8.count), as: UTF8.self)
    }
}
