extension Database {
    /// Runs a block with a setting of the connection, and puts the former one back, whatever ends the block.
    ///
    /// A setting that the library does not know has no effect.
    ///
    /// - parameters:
    ///     - name: The name of a pragma that is on or off. SQLite ignores `foreign_keys` in a transaction.
    ///     - isOn: What the setting is while the block runs.
    ///     - body: The block.
    /// - returns: What the block returns.
    /// - throws: What the block throws; a ``DatabaseError`` or a `CancellationError` when the setting can't be
    ///   changed, and the block does not run then.
    package func withSetting<T>(_ name: String, isOn: Bool, _ body: () throws -> T) throws -> T {
        guard try Bool.fetchOne(self, sql: "PRAGMA \(name)") == !isOn else { return try body() }
        // The pragma acts when it is prepared, so it may have acted although it fails.
        defer { putBack("PRAGMA \(name) = \(isOn ? "OFF" : "ON")") }
        try execute(sql: "PRAGMA \(name) = \(isOn ? "ON" : "OFF")")
        return try body()
    }

    /// Runs the pragma as a statement that no cancellation and no suspension refuses: nobody would repeat it.
    private func putBack(_ pragma: String) {
        guard !isClosed else { return }
        do {
            try bookkeeping(pragma)
        } catch {
            owe(pragma)
        }
    }
}
