import CipherStore

/// The fold of columns whose values policies keep.
extension Fold {
    /// Turns local writes of such columns into what their policies keep.
    ///
    /// - parameter hasUpdates: Whether `temp._sync_fold` lists the rows that were written.
    func foldSeparate(
        _ tables: [Int64: SeparateColumns], _ metadata: StoreMetadata, _ stamps: StampRule, hasUpdates: Bool
    ) throws {
        guard !tables.isEmpty else { return }
        try CounterFold(
            db: db, metadata: metadata, tables: tables,
            nonce: UInt32(truncatingIfNeeded: environment.random()), stamps: stamps
        ).run(hasUpdates: hasUpdates)
    }
}
