extension String {
    /// The name in double quotes, as SQL writes an identifier.
    public var quotedDatabaseIdentifier: String { inQuotes(UInt8(ascii: "\"")) }

    /// The text in single quotes, as SQL writes a literal.
    package var quotedSQLText: String { inQuotes(UInt8(ascii: "'")) }

    /// The text between quotes, with each quote in it doubled.
    ///
    /// It looks at bytes, as SQLite does: a quote that a combining mark follows
    /// is no `Character` of its own, and would end the text for SQLite only. CSV
    /// and the language of full-text queries are read in the same way.
    package func inQuotes(_ quote: UInt8) -> String {
        var bytes: [UInt8] = [quote]
        bytes.reserveCapacity(utf8.count + 2)
        for byte in utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }
}
