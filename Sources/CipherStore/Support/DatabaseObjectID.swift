import Foundation

/// The name of a schema of a connection: `main`, `temp`, or an attached database.
public struct DatabaseSchemaID: Hashable, Sendable, CustomStringConvertible {
    /// The name, as it is written in SQL.
    public let name: String

    private let key: String

    /// Makes an identifier from a name. Names have no case.
    public init(_ name: String) {
        self.name = name
        key = name.foldedIdentifier
    }

    /// The database file of the connection.
    public static let main = DatabaseSchemaID("main")

    /// The temporary objects of the connection.
    public static let temp = DatabaseSchemaID("temp")

    /// An attached database.
    ///
    /// - parameter name: The name that `ATTACH DATABASE … AS` gave it.
    public static func attached(_ name: String) -> DatabaseSchemaID { DatabaseSchemaID(name) }

    /// The name.
    public var description: String { name }

    /// Returns whether two identifiers are the same schema.
    public static func == (left: DatabaseSchemaID, right: DatabaseSchemaID) -> Bool { left.key == right.key }

    /// Hashes the name without its case.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// The table that lists the objects of the schema.
    var masterTable: String {
        // Libraries before 3.33 know the temporary one by this name only.
        self == .temp ? "sqlite_temp_master" : "\(name.quotedDatabaseIdentifier).sqlite_master"
    }
}

/// The name of a table, view, index or trigger, with the schema it is in.
public struct DatabaseObjectID: Hashable, Sendable, CustomStringConvertible {
    /// The schema of the object.
    public let schemaID: DatabaseSchemaID

    /// The name of the object, as it was declared.
    public let name: String

    private let key: String

    /// Makes an identifier. Names have no case.
    public init(schemaID: DatabaseSchemaID = .main, name: String) {
        self.schemaID = schemaID
        self.name = name
        key = name.foldedIdentifier
    }

    /// The schema and the name, as in `main.player`.
    public var description: String { "\(schemaID.name).\(name)" }

    /// Returns whether two identifiers are the same object.
    public static func == (left: DatabaseObjectID, right: DatabaseObjectID) -> Bool {
        left.key == right.key && left.schemaID == right.schemaID
    }

    /// Hashes the identifier without its case.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(schemaID)
    }

    /// The name for use in SQL.
    var quoted: String { "\(schemaID.name.quotedDatabaseIdentifier).\(name.quotedDatabaseIdentifier)" }
}

extension String {
    /// The name with its ASCII letters in lower case, which is how SQLite compares names.
    package var foldedIdentifier: String {
        guard utf8.contains(where: { $0 >= 65 && $0 <= 90 }) else { return self }
        return String(decoding: utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }, as: UTF8.self)
    }

    /// A text that two names share exactly when they are one name to SQLite: for sets and dictionaries.
    ///
    /// Swift takes an "é" of one code point and one of two for the same text, and SQLite does not. So what is no ASCII
    /// stands here as hexadecimal digits.
    package var identifierKey: String {
        guard utf8.contains(where: { $0 >= 0x80 || $0 == Self.escape }) else { return foldedIdentifier }
        var key: [UInt8] = []
        for byte in foldedIdentifier.utf8 {
            guard byte >= 0x80 || byte == Self.escape else {
                key.append(byte)
                continue
            }
            let digits = String(byte, radix: 16).utf8
            key.append(Self.escape)
            key.append(contentsOf: digits.count == 1 ? [UInt8(ascii: "0")] + digits : Array(digits))
        }
        return String(decoding: key, as: UTF8.self)
    }

    private static let escape: UInt8 = 0x01

    /// Returns whether two names are the same to SQLite, byte for byte but for the case of ASCII letters.
    package func isSameIdentifier(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).allSatisfy { $0 == $1 || Self.folded($0) == Self.folded($1) }
    }

    /// Returns whether two texts have the same bytes, which Swift's `==` does not ask: it takes an "é" of one code
    /// point and one of two for the same text.
    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        // Short texts with the same bytes, and a text and its copies, are the same words.
        if MemoryLayout<String>.size == 16,
            unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
        {
            return true
        }
        return utf8.count == other.utf8.count && hasSameMemory(as: other)
    }

    /// The same of two texts of one length. Swift's `elementsEqual` takes some twenty instructions for each byte.
    private func hasSameMemory(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
                return memcmp(start, otherStart, bytes.count) == 0
            } ?? utf8.elementsEqual(other.utf8)
        }
        return isSame ?? utf8.elementsEqual(other.utf8)
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }
}
