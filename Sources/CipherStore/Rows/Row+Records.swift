// Records that are inside of a row: one in a scope, or those of prefetched rows.

extension Row {
    /// Returns the record of a scope, at any depth.
    ///
    /// ```swift
    /// let team: Team = row["team"]
    /// ```
    ///
    /// A missing scope is a programming error.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        trapping { try decode(Record.self, forKey: scope) }
    }

    /// Returns the record of a scope, at any depth, or nil when there is no such
    /// scope or all of its values are NULL.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        trapping { try decodeIfPresent(Record.self, forKey: scope) }
    }

    /// Returns the records of prefetched rows.
    ///
    /// ```swift
    /// let books: [Book] = row["books"]
    /// ```
    ///
    /// Rows that were not prefetched are a programming error.
    public subscript<Records: RangeReplaceableCollection>(_ key: String) -> Records
    where Records.Element: FetchableRecord {
        trapping { try decode(Records.self, forKey: key) }
    }

    /// Returns the records of prefetched rows.
    ///
    /// Rows that were not prefetched are a programming error.
    public subscript<Record: FetchableRecord & Hashable>(_ key: String) -> Set<Record> {
        trapping { try decode(Set<Record>.self, forKey: key) }
    }

    // MARK: Throwing access

    /// Decodes the record of a scope, at any depth.
    ///
    /// - throws: ``RowDecodingError`` when there is no such scope; what decoding throws.
    public func decode<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record {
        guard let row = scopesTree[scope] else {
            throw RowDecodingError(.keyNotFound(.scope(scope)), type: "\(Record.self)", row: self)
        }
        return try Record(row: row)
    }

    /// Decodes the record of a scope, at any depth, or returns nil when there is
    /// no such scope or all of its values are NULL.
    ///
    /// - throws: What decoding throws.
    public func decodeIfPresent<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record? {
        guard let row = scopesTree[scope], row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }

    /// Decodes the records of prefetched rows.
    ///
    /// - throws: ``RowDecodingError`` when no such rows were prefetched; what decoding throws.
    public func decode<Records: RangeReplaceableCollection>(
        _ type: Records.Type = Records.self, forKey key: String
    ) throws -> Records where Records.Element: FetchableRecord {
        var records = Records()
        try prefetchedRows(key, "\(Records.self)").visit { records.append(try Records.Element(row: $0)) }
        return records
    }

    /// Decodes the records of prefetched rows.
    ///
    /// - throws: ``RowDecodingError`` when no such rows were prefetched; what decoding throws.
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        var records: Set<Record> = []
        try prefetchedRows(key, "\(Set<Record>.self)").visit { records.insert(try Record(row: $0)) }
        return records
    }

    private func prefetchedRows(
        _ key: String, _ type: @autoclosure () -> String
    ) throws -> AssociatedRowList {
        if let rows = prefetches.rows(named: key) { return rows }
        throw RowDecodingError(.keyNotFound(.prefetchedRows(key)), type: type(), row: self)
    }
}
