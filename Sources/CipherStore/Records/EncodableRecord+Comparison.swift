extension EncodableRecord {
    /// Returns whether two records are stored as the same values.
    ///
    /// Records that can't be encoded are equal to none.
    public func databaseEquals(_ record: Self) -> Bool {
        guard let own = try? PersistenceContainer(self), let other = try? PersistenceContainer(record) else {
            return false
        }
        return own.changes(from: other).isEmpty
    }

    /// Returns the columns whose values differ from those of another record,
    /// with the values of the other.
    ///
    /// - throws: What encoding throws.
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        try PersistenceContainer(self).changes(from: PersistenceContainer(record))
    }

    /// Changes the record, and returns the columns whose values differ, with the
    /// values that they had before.
    ///
    /// - throws: What the function and encoding throw.
    public mutating func databaseChanges(
        modify: (inout Self) throws -> Void
    ) throws -> [String: DatabaseValue] {
        let before = try PersistenceContainer(self)
        try modify(&self)
        return try PersistenceContainer(self).changes(from: before)
    }
}

extension PersistenceContainer {
    /// The columns whose values differ from those of another container, with
    /// the values of the other.
    func changes(from other: PersistenceContainer) -> [String: DatabaseValue] {
        var changes: [String: DatabaseValue] = [:]
        for (position, column) in columns.enumerated() {
            let old = other.value(of: column) ?? .null
            if old != value(at: position) { changes[column] = old }
        }
        return changes
    }
}
