/// The names that synchronization keeps for its tables, triggers and indexes.
///
/// CipherStore knows nothing of synchronization but these names: it must not take the triggers that
/// track a table for the app's, nor let SQL from outside write the tables that they write.
package enum SyncNames {
    /// What they begin with. Names have no case.
    package static let prefix = "_sync_"

    /// The table that a store has once it was made one that can be synchronized.
    package static let state = "_sync_state"

    /// Returns whether a name belongs to synchronization.
    package static func contains(_ name: String) -> Bool {
        name.utf8.count >= prefix.utf8.count
            && String(decoding: name.utf8.prefix(prefix.utf8.count), as: UTF8.self).foldedIdentifier == prefix
    }

    /// SQL that asks the same of a column.
    ///
    /// - parameter column: The SQL of the column.
    package static func condition(on column: String = "name") -> String {
        "substr(\(column), 1, \(prefix.utf8.count)) = '\(prefix)' COLLATE NOCASE"
    }
}
