import CipherStore
import Foundation

/// A value as the database holds it: two values are equal when their types and bytes are.
enum ModelValue: Hashable {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number.bitPattern)
        case .string(let text): self = .text(Array(text.utf8))
        case .blob(let data): self = .blob(Array(data))
        }
    }

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let bits): Double(bitPattern: bits).databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = bytes.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return bytes.count > 16 ? "\(digits)…(\(bytes.count) bytes)" : digits
    }
}

extension ModelValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes) where bytes.allSatisfy { (0x20..<0x7f).contains($0) } && bytes.count <= 40:
            "'\(String(decoding: bytes, as: UTF8.self))'"
        case .text(let bytes): "text:\(Self.hex(bytes))"
        case .blob(let bytes): "x'\(Self.hex(bytes))'"
        }
    }
}

/// A row's place: its table and its key.
struct ModelKey: Hashable, Comparable, CustomStringConvertible {
    let table: String
    let key: ModelValue

    private var bytes: [UInt8] {
        switch key {
        case .text(let bytes), .blob(let bytes): bytes
        default: []
        }
    }

    var description: String { "\(table)[\(key)]" }

    /// The order in which rows of one age claim what is unique.
    static func < (left: ModelKey, right: ModelKey) -> Bool {
        left.table != right.table
            ? left.table < right.table : left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The rows of tables: their values by column.
typealias ModelRows = [ModelKey: [String: ModelValue]]
