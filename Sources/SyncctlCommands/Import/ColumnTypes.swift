import Foundation

/// What a column holds: what it is declared as, and how its fields are read.
enum ColumnType: String, CaseIterable, Sendable {
    case integer = "INTEGER"
    case real = "REAL"
    /// Integers and reals, each as it is written.
    case numeric = "NUMERIC"
    case text = "TEXT"
    case blob = "BLOB"
    /// Each value by itself.
    case any = "ANY"

    /// The type in the definition of a table. A column without one keeps every value as it is.
    var declaration: String { self == .any ? "" : " \(rawValue)" }
}

/// A field as it is stored. A text points into the field, so it lives no longer than the field's bytes.
enum FieldValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case blob(Data)

    /// Reads a field as a value of its column. A field that does not fit the type stays the text it is, so
    /// nothing is lost if the file changed after its types were found.
    static func parse(
        field bytes: UnsafeRawBufferPointer, isQuoted: Bool, as type: ColumnType,
        nulls: NullWords = .standard
    ) -> Self {
        if nulls.contains(bytes, isQuoted: isQuoted) { return .null }
        return parse(bytes, as: type) ?? .text(bytes)
    }

    /// Reads a text as a value of a type.
    ///
    /// - returns: nil when it is none.
    static func parse(_ bytes: UnsafeRawBufferPointer, as type: ColumnType) -> Self? {
        switch type {
        case .text: return .text(bytes)
        case .blob: return WrittenBlob.parse(bytes).map(FieldValue.blob)
        case .integer: return WrittenNumber(bytes)?.integer.map(FieldValue.integer)
        case .real:
            guard let number = WrittenNumber(bytes), !number.isInexactInteger else { return nil }
            return .real(number.doubleValue(writtenAs: bytes))
        case .numeric:
            guard let number = WrittenNumber(bytes) else { return nil }
            return number.integer.map(FieldValue.integer) ?? .real(number.doubleValue(writtenAs: bytes))
        case .any:
            guard let number = WrittenNumber(bytes), number.isCanonical(writtenAs: bytes) else {
                return .text(bytes)
            }
            return number.integer.map(FieldValue.integer) ?? .real(number.doubleValue(writtenAs: bytes))
        }
    }
}

/// The texts that stand for NULL in CSV. In quotes they are what they are.
struct NullWords: Sendable {
    /// An empty field, and `NA`, as R and its relatives write it.
    static let standard = NullWords(["", "NA"])

    private let words: [[UInt8]]
    private let longest: Int

    init(_ words: [String]) {
        self.words = words.map { Array($0.utf8) }
        longest = self.words.map(\.count).max() ?? -1
    }

    @inline(__always)
    func contains(_ bytes: UnsafeRawBufferPointer, isQuoted: Bool) -> Bool {
        if isQuoted || bytes.count > longest { return false }
        return words.contains { $0.elementsEqual(bytes) }
    }
}

/// Bytes as they are written: hexadecimal digits, or a UUID, which is how `export` writes 16 bytes.
enum WrittenBlob {
    static func parse(_ text: UnsafeRawBufferPointer) -> Data? {
        let isUUID = isUUID(text)
        guard isUUID || text.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: text.count / 2)
        var high: UInt8?
        for character in text where !(isUUID && character == UInt8(ascii: "-")) {
            guard let digit = digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    static func isUUID(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == 36
            && bytes.indices.allSatisfy { index in
                if [8, 13, 18, 23].contains(index) { return bytes[index] == UInt8(ascii: "-") }
                return digit(bytes[index]) != nil
            }
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46, 0x61...0x66: (character & 0xDF) - 0x41 + 10
        default: nil
        }
    }
}
