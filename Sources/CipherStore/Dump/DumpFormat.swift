/// A way to write rows as text, for ``Database/dumpSQL(_:format:to:)`` and its siblings.
///
/// A format is a value that is copied for each list of rows, so that it can
/// keep in its properties what it has written already.
public protocol DumpFormat {
    /// Writes a row.
    ///
    /// - parameters:
    ///     - row: The row. It is valid during the call; copy it to keep it.
    ///     - stream: Where it is written.
    mutating func writeRow(_ row: Row, to stream: inout DumpStream) throws

    /// Ends a list of rows. It is called once, also when there was no row.
    ///
    /// - parameters:
    ///     - columnNames: The columns; none for a statement that gives no rows.
    ///     - stream: Where the end is written.
    mutating func finalize(columnNames: [String], to stream: inout DumpStream) throws
}

/// Where a dump is written.
public struct DumpStream: TextOutputStream {
    private var base: (any TextOutputStream)?
    private var isEmpty = true
    private var needsMargin = false

    /// Makes a stream.
    ///
    /// - parameter base: What receives the text; standard output when nil.
    init(_ base: (any TextOutputStream)?) { self.base = base }

    /// Writes a text.
    public mutating func write(_ string: String) {
        let text = needsMargin ? "\n" + string : string
        needsMargin = false
        isEmpty = false
        if base == nil {
            print(text, terminator: "")
        } else {
            base?.write(text)
        }
    }

    /// Writes a text and the end of the line.
    public mutating func writeln(_ string: String) { write(string + "\n") }

    /// Leaves a blank line before what is written next, unless nothing was written yet.
    public mutating func margin() { needsMargin = !isEmpty }
}

/// How a format writes values as text, beside one that it writes differently.
enum DumpText {
    /// The value as the text that SQLite makes of it, or nil for NULL.
    static func text(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let value): "\(value)"
        case .double(let value): value.isInfinite ? (value < 0 ? "-Inf" : "Inf") : "\(value)"
        case .string(let value): value
        case .blob(let value): String(decoding: value, as: UTF8.self)
        }
    }

    /// Bytes as a literal of SQL.
    static func hexLiteral(_ bytes: some Sequence<UInt8>) -> String {
        var text = "X'"
        for byte in bytes {
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16, uppercase: true)
        }
        return text + "'"
    }
}
