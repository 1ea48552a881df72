import CipherStore
import SyncWire

/// What a replica sends, from one snapshot.
extension StorePeer {
    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        guard !request.heldBack.isEmpty else {
            return try export { try send($0, request, upTo: nil, progress, sink) }
        }
        var own: (last: Int64, number: Int64)?
        func holdBack(_ store: FoldedStore) throws { own = try HeldBackRows(store: store).move(request) }
        return try export(preparing: holdBack) { store in
            assert(own != nil || !canWrite, "rows are held back that got no numbers of their own")
            guard store.metadata.selfNumber == own?.number else { throw SyncError.changedMeanwhile }
            return try send(store, request, upTo: own?.last, progress, sink)
        }
    }

    private func send(
        _ store: FoldedStore, _ request: TransferRequest, upTo last: Int64?, _ progress: SyncProgressHandler?,
        _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        let portion = try BundlePortion(store, request, upTo: last)
        let exporter = try BundleExporter(store, request, upTo: portion.last)
        var summary = try exporter.write(progress: progress, to: sink)
        assert(!portion.isPart || portion.last != nil)
        summary.portionEnd = portion.isPart ? portion.last : nil
        return summary
    }

    /// The same for a device.
    ///
    /// - parameter bounds: Says in the snapshot that is sent what the device may get; nil for everything. It may throw.
    func send(
        _ request: TransferRequest, within bounds: (Database) throws -> AccessBounds?,
        progress: SyncProgressHandler?, to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try export { store in
            var request = request
            if let bounds = try bounds(store.db) {
                let access = try DeviceAccess(store.db, bounds)
                try access.check(request)
                request = access.restricted(request)
            }
            return try BundleExporter(store, request).write(progress: progress, to: sink)
        }
    }

    func send(
        rows: [StateRows], to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try send(rows: rows, within: { _ in nil }, to: sink)
    }

    /// The same for a device.
    ///
    /// - parameter bounds: Says in the snapshot that is sent what the device may get; nil for everything. It may throw.
    func send(
        rows: [StateRows], within bounds: (Database) throws -> AccessBounds?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try export { store in
            let number = try Self.resolver(store.db, within: bounds)
            let chosen = try rows.compactMap { rows in
                try number(rows.table).map { BundleExporter.ChosenRows(table: $0, keys: rows.keys) }
            }
            return try BundleExporter(store, repairing: chosen).write(progress: nil, to: sink)
        }
    }

    /// - parameter prepare: Called in a transaction before that of the export.
    private func export(
        preparing prepare: ((FoldedStore) throws -> Void)? = nil,
        _ body: (FoldedStore) throws -> TransferSummary
    ) throws -> TransferSummary {
        guard canWrite else {
            let summary = try database.writeWithoutTransaction { db in
                try requireVersions(db)
                return try exportFolded(db, body)
            }
            guard let summary else { throw SyncError.changedMeanwhile }
            return summary
        }
        // The receiver has a transaction open, and whoever writes to this store may be waiting for that one. So a store
        // in which nothing is left to be done is only read.
        if prepare == nil, let summary = try exportSettled(body) { return summary }
        var hasSettled = false
        for _ in 0..<10 {
            var summary: TransferSummary?
            let isDue = try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let store = try FoldedStore.fold(db, environment)
                    try prepare?(store)
                    return .commit
                }
                // Somebody wrote since this replica greeted, and rows may have found their place.
                if try !hasSettled && SettlementMark.isDue(db) { return true }
                summary = try exportFolded(db, body)
                return false
            }
            if let summary { return summary }
            guard isDue else { continue }
            hasSettled = true
            try database.settle(environment, isFull: false)
        }
        throw DatabaseError(resultCode: .SQLITE_BUSY, message: "another process keeps writing")
    }

    /// Exports a store in which everything is folded and settled.
    ///
    /// - returns: nil when something is left to be done.
    private func exportSettled(_ body: (FoldedStore) throws -> TransferSummary) throws -> TransferSummary? {
        try database.writeWithoutTransaction { db in
            guard try !SettlementMark.isDue(db) else { return nil }
            return try exportFolded(db, body)
        }
    }

    /// Exports one snapshot.
    ///
    /// - returns: nil when somebody wrote after the fold: the snapshot would hold
    ///   new values under old stamps, and half of a transaction.
    private func exportFolded(
        _ db: Database, _ body: (FoldedStore) throws -> TransferSummary
    ) throws -> TransferSummary? {
        var summary: TransferSummary?
        try db.inTransaction(.deferred) {
            summary = try FoldedStore.ifFolded(db, environment).map(body)
            return .commit
        }
        return summary
    }
}
