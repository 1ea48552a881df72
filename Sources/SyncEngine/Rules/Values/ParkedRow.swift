import CipherStore
import Foundation
import SyncWire

/// A row that waits, whole or in part, because it can't be written as it is.
///
/// Other replicas get it like any other row. It is tried again whenever something
/// happens that it may wait for.
public struct ParkedRow: Sendable {
    /// What stands against a row. New reasons may be added.
    public enum Reason: String, Sendable, CaseIterable {
        /// Another row has the same values under a UNIQUE index, and is older.
        case unique
        /// A column that must have a value has none.
        case notNull
        /// A CHECK constraint is broken, or an expression of the table (in a CHECK, an index or a generated column) fails for
        /// the row's values.
        case check
        /// The row that it refers to is not there.
        case missingParent
        /// A trigger of yours refused the row.
        case trigger
        /// The table does not exist here, or is not tracked.
        case missingTable
        /// Some of its values belong to a column that does not exist here; the row itself is in its table.
        case missingColumn
        /// Something else, which the message says.
        case other
    }

    /// The table.
    public let table: String
    /// The row's key, as the table holds it.
    public let key: DatabaseValue
    /// The values that wait, by column.
    public let values: [String: DatabaseValue]
    /// What stands against it.
    public let reason: Reason
    /// SQLite's words, which name the constraint, or those of the library.
    public let message: String
    /// Since when, in milliseconds of Unix time; nil for missing tables and columns.
    public let sinceMilliseconds: Int64?
    /// The key of the row that won, or of the parent that is missing, when it is known. Of several rows that won it is one of
    /// them, on each replica the one that was found there.
    public let otherKey: DatabaseValue?
    /// The table of that row.
    public let otherTable: String?

    /// The key as text: a UUID in its usual form, or what the table holds.
    public var keyText: String { Self.text(key) }

    /// The key of the row that won, or of the missing parent, as text.
    public var otherKeyText: String? { otherKey.map(Self.text) }

    private static func text(_ key: DatabaseValue) -> String {
        if case .string(let text) = key.storage { return text }
        return UUID.fromDatabaseValue(key)?.uuidString.lowercased() ?? key.description
    }
}
