import Foundation

/// A value of a line of JSON.
enum JSONField {
    case null
    /// A number with the text that it is, or `true` and `false` as 1 and 0.
    case integer(Int64, written: String)
    case real(Double, written: String)
    case text(String)
    /// `{"base64": "…"}`, as `export` writes bytes.
    case blob(Data)
    /// A number that the database cannot give back, an array or another object: kept as its JSON text.
    case other(String)

    /// Whether it is the text of a UUID.
    var isUUID: Bool {
        guard case .text(var text) = self else { return false }
        return text.withUTF8 { WrittenBlob.isUUID(UnsafeRawBufferPointer($0)) }
    }

    /// A number of JSON.
    static func number(_ bytes: UnsafeRawBufferPointer) -> JSONField {
        let text = String(decoding: bytes, as: UTF8.self)
        if let number = WrittenNumber(bytes) {
            return number.integer.map { .integer($0, written: text) }
                ?? .real(number.doubleValue(writtenAs: bytes), written: text)
        }
        // Numbers next to zero, which are written with all the digits that they have.
        if let number = Double(text), number.isFinite, "\(number)" == text || number == 0 {
            return .real(number, written: text)
        }
        return .other(text)
    }

    /// The number that `export` writes as a text, for JSON has none.
    static func infinity(_ text: String) -> Double? {
        switch text {
        case "inf": .infinity
        case "-inf": -.infinity
        default: nil
        }
    }

    /// Gives `body` the value of a column.
    ///
    /// - parameters:
    ///   - type: The type of the column.
    ///   - isRequired: Whether the user asked for the type, so that a value that is none of it is an error.
    ///   - readsUUIDs: Whether the column holds bytes, so that the text of a UUID means 16 of them.
    /// - returns: What `body` returns; nil when the value is none of the type.
    func withValue<R>(
        as type: ColumnType, isRequired: Bool, readsUUIDs: Bool, _ body: (FieldValue) throws -> R
    ) rethrows -> R? {
        switch self {
        case .null: return try body(.null)
        case .blob(let data):
            return isRequired && ![.blob, .any].contains(type) ? nil : try body(.blob(data))
        case .integer(let number, let written):
            guard isRequired else { return try body(.integer(number)) }
            if Self.isWord(written), let value = Self.value(ofWord: number, as: type) {
                return try body(value)
            }
            return try Self.withValue(of: written, as: type == .any ? .numeric : type, body)
        case .real(let number, let written):
            guard isRequired else { return try body(.real(number)) }
            return try Self.withValue(of: written, as: type == .any ? .numeric : type, body)
        case .text(let text):
            if type == .real, let number = Self.infinity(text) { return try body(.real(number)) }
            let isBytes = readsUUIDs && isUUID
            return try Self.withValue(
                of: text, as: isBytes ? .blob : isRequired && type != .any ? type : .text, body)
        case .other(let text):
            guard !isRequired || type == .text || type == .any else { return nil }
            return try Self.withValue(of: text, as: .text, body)
        }
    }

    /// Whether it is `true` or `false`, not digits.
    private static func isWord(_ written: String) -> Bool {
        written.utf8.first.map { $0 > UInt8(ascii: "9") } ?? false
    }

    /// The number that `true` or `false` stands for; nil where numbers are not kept as such.
    private static func value(ofWord number: Int64, as type: ColumnType) -> FieldValue? {
        switch type {
        case .integer, .numeric, .any: .integer(number)
        case .real: .real(Double(number))
        case .text, .blob: nil
        }
    }

    private static func withValue<R>(
        of text: String, as type: ColumnType, _ body: (FieldValue) throws -> R
    ) rethrows -> R? {
        var text = text
        return try text.withUTF8 { bytes in
            guard let value = FieldValue.parse(UnsafeRawBufferPointer(bytes), as: type) else { return nil }
            return try body(value)
        }
    }
}

extension JSONField: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "null"
        case .integer(_, let written), .real(_, let written), .other(let written): written
        case .text(let text): text
        case .blob(let data): "\(data.count) bytes"
        }
    }
}
