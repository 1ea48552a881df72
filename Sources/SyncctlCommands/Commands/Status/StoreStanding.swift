import CipherStore
import SyncEngine

/// What `status` shows of a store, as of one moment.
struct StoreStanding {
    let status: SyncStatus
    /// The tables that are not tracked.
    let untracked: [String]
    /// The number of the last change that was made in this store.
    let writtenCount: Int64
    /// How many changes of others are known in it.
    let receivedCount: Int64

    /// Whether somebody should do something.
    var needsAttention: Bool {
        status.parkedCount > 0 || !status.schemaRemarks.isEmpty
            || status.tables.contains { $0.unsuitableKeyCount > 0 }
    }

    /// Reads how a store stands.
    ///
    /// - throws: A `SyncError` when it is not synchronized; a `DatabaseError`.
    init(_ queue: DatabaseQueue) throws {
        let synchronizer = try Synchronizer(existing: queue)
        status = try synchronizer.status()
        let tracked = Set(status.tables.map { $0.name.foldedIdentifier })
        untracked = try queue.read { try TextExport.tables($0) }.filter {
            !tracked.contains($0.foldedIdentifier)
        }
        let replicas = try synchronizer.replicas()
        writtenCount = replicas.first { $0.isLocal }?.sequence ?? 0
        // Another program may have written numbers there whose sum is none.
        receivedCount = replicas.filter { !$0.isLocal }.reduce(0) { sum, replica in
            let (result, overflow) = sum.addingReportingOverflow(max(0, replica.sequence))
            return overflow ? .max : result
        }
    }
}
