import CipherStore
import Foundation
import SyncWire

/// How the keys of a table are derived.
struct KeyDerivationRule: Sendable {
    let derived: DerivedKey
    /// Of the key, if it is one column.
    let affinity: ColumnAffinity
    /// Of the key's columns.
    let collations: [String]
    let form: UUIDKeyMigration.KeyForm
    /// The last integer key that other copies have, too.
    let lastShared: Int64?
    let salt: [UInt8]

    /// Derives the new key of a row, or of a row that is referred to.
    ///
    /// - parameters:
    ///     - values: The values of the old key.
    ///     - rowid: What tells rows apart whose old key has a NULL, or which had none.
    func key(of values: [DatabaseValue], rowid: Int64? = nil) -> DatabaseValue {
        var parts = values.enumerated().map {
            Self.part($1, collation: $0 < collations.count ? collations[$0] : nil)
        }
        if parts.count == 1, let uuid = Self.uuid(parts[0]) { return stored(uuid) }
        if let rowid, parts.isEmpty || parts.contains(.null) { parts.append(.integer(rowid)) }
        var salt: [UInt8] = []
        if let lastShared, case .integer(let value)? = parts.first, value > lastShared { salt = self.salt }
        return stored(derived.key(of: parts, salt: salt))
    }

    private func stored(_ key: Identifier128) -> DatabaseValue {
        let data = key.data
        guard form == .text else { return data.databaseValue }
        let digits = Array(key.description)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return groups.joined(separator: "-").databaseValue
    }

    /// A value in the one form of all that the database takes for equal.
    private static func part(_ value: DatabaseValue, collation: String?) -> DerivedKey.Part {
        switch value.storage {
        case .null: return .null
        case .int64(let value): return .integer(value)
        case .double(let value): return Int64(exactly: value).map { .integer($0) } ?? .real(value)
        case .blob(let value): return .blob(Array(value))
        case .string(let value):
            switch collation?.uppercased() {
            case "NOCASE": return .text(value.foldedIdentifier)
            case "RTRIM":
                let bytes = Array(value.utf8)
                let count = (bytes.lastIndex { $0 != 32 } ?? -1) + 1
                return .text(String(decoding: bytes[..<count], as: UTF8.self))
            default: return .text(value)
            }
        }
    }

    /// A key that is a UUID already.
    private static func uuid(_ part: DerivedKey.Part) -> Identifier128? {
        switch part {
        case .blob(let bytes): return bytes.withUnsafeBytes { Identifier128(bytes: $0) }
        case .text(let text):
            guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
            return withUnsafeBytes(of: uuid.uuid) { Identifier128(bytes: $0) }
        default: return nil
        }
    }
}
