import CipherStore
import Foundation

/// The keys of rows as people read them.
enum RowKeyText {
    /// A UUID in its usual form, or what the table holds.
    static func text(_ key: DatabaseValue) -> String {
        UUID.fromDatabaseValue(key)?.uuidString.lowercased() ?? key.description
    }
}
