import Foundation

/// A format that writes rows as an array of JSON objects.
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .json())
/// // [{"id":1,"name":"Arthur"},
/// // {"id":2,"name":"Barbara"}]
/// ```
///
/// Members are in the order of the columns, and columns of the same name make
/// members of the same name. A blob is a text in base 64, unless the encoder
/// says otherwise.
public struct JSONDumpFormat: DumpFormat, Sendable {
    /// An encoder that writes slashes as they are, and infinite numbers as
    /// texts. It is a new one each time, so that you can change it.
    public static var defaultEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    /// The encoder of names and values. With `prettyPrinted`, each value is on
    /// a line of its own; `sortedKeys` changes nothing.
    public var encoder: JSONEncoder

    private var isFirstRow = true

    /// Makes the format.
    ///
    /// - parameter encoder: The encoder of names and values.
    public init(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) { self.encoder = encoder }

    private var isPretty: Bool { encoder.outputFormatting.contains(.prettyPrinted) }

    /// Writes a row.
    ///
    /// - throws: The error of the encoder.
    public mutating func writeRow(_ row: Row, to stream: inout DumpStream) throws {
        let members = try row.map { try "\(text(of: $0)):\(text(of: $1))" }
        let object =
            isPretty
            ? "  {\n    " + members.joined(separator: ",\n    ") + "\n  }"
            : "{" + members.joined(separator: ",") + "}"
        stream.write((isFirstRow ? (isPretty ? "[\n" : "[") : ",\n") + object)
        isFirstRow = false
    }

    /// Ends the array. It is written when it is empty, too.
    public mutating func finalize(columnNames: [String], to stream: inout DumpStream) {
        if isFirstRow {
            if !columnNames.isEmpty { stream.writeln("[]") }
        } else {
            stream.writeln(isPretty ? "\n]" : "]")
        }
    }

    private func text(of value: DatabaseValue) throws -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let value): try text(of: value)
        case .double(let value): try text(of: value)
        case .string(let value): try text(of: value)
        case .blob(let value): try text(of: value)
        }
    }

    private func text(of value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension DumpFormat where Self == JSONDumpFormat {
    /// An array of JSON objects: ``JSONDumpFormat``.
    public static func json(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) -> Self {
        JSONDumpFormat(encoder: encoder)
    }
}
