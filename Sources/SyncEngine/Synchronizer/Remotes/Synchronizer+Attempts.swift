import CipherStore

extension Synchronizer {
    /// Forgets how the synchronizations with a remote went, for example one whose name was mistyped. The
    /// choice of what is exchanged with it stays.
    ///
    /// - parameter name: Its name, as ``SyncStatus/remotes`` has it.
    /// - returns: Whether anything was known of it.
    /// - throws: A `DatabaseError`.
    package func forgetAttempts(withRemote name: String) throws -> Bool {
        try database.write { try SyncAttempts.forget($0, name: name) }
    }

    /// The status now, and again after each change that this program's connections commit.
    ///
    /// ```swift
    /// for try await status in synchronizer.statusUpdates() {
    ///     label.text = status.remotes.first?.lastError ?? "\(status.parkedCount) rows wait"
    /// }
    /// ```
    ///
    /// Each status counts the rows of the tables. The sequence ends with an error when the store can't be read.
    public func statusUpdates() -> AsyncValueObservation<SyncStatus> {
        ValueObservation.tracking { try Synchronizer.status($0) }
            .values(in: database, bufferingPolicy: .bufferingNewest(1))
    }
}
