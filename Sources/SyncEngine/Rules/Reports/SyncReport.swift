import SyncWire

/// What a synchronization did.
public struct SyncReport: Equatable, Sendable {
    /// One direction of it.
    public struct Transfer: Equatable, Sendable {
        /// The rows that were sent.
        public let rowCount: Int64
        /// The bytes on the wire.
        public let byteCount: Int64
        /// Values that lost against a concurrent write.
        public let conflictCount: Int64
        /// Those of them that the sender knew, and found too when it learnt of the values.
        public let sharedConflictCount: Int64
        /// Rows that the receiver could not write yet; they wait there.
        public let parkedCount: Int64
        /// Rows that the receiver could not write before, and could now.
        public let unparkedCount: Int64
        /// How far the changes' times were ahead of the receiver's clock, if that is more than the receiver
        /// accepts; else zero.
        public let skewMilliseconds: Int64
        /// The replica that wrote the newest of these; nil when there are none, or a server does not say.
        public let skewedReplica: ReplicaID?

        init(rowCount: Int64, byteCount: Int64, applied: ApplySummary) {
            self.rowCount = rowCount
            self.byteCount = byteCount
            conflictCount = applied.conflictCount
            sharedConflictCount = applied.sharedConflictCount
            parkedCount = applied.parkedCount
            unparkedCount = applied.unparkedCount
            skewMilliseconds = applied.skewMilliseconds
            skewedReplica = applied.skewedReplica
        }
    }

    /// This replica.
    public internal(set) var local: ReplicaID
    /// The other one.
    public internal(set) var remote: ReplicaID
    /// What came from the remote, or nil when there was nothing or it was not asked for.
    public internal(set) var pulled: Transfer?
    /// What went to the remote, or nil when there was nothing or it was not asked for.
    public internal(set) var pushed: Transfer?
    /// The new identities of replicas whose files turned out to be copies, or restored from older ones.
    public internal(set) var renewedReplicas: [ReplicaID] = []
    /// The rows that differed although both sides knew the same changes; nil when none did.
    public internal(set) var divergence: Divergence?
    /// Why the contact could not be noted for the status, although the changes
    /// were exchanged; nil when it was.
    public internal(set) var unrecordedReason: String?

    /// Why the remote did not take what was changed here, which is outside of what this device may write; nil when it
    /// did. Nothing of it was applied there: it stays to be sent.
    public internal(set) var refusal: SyncError?

    /// Tables that are held in part and could not be exchanged with this remote this time, with the reasons.
    public internal(set) var waitingTables: [WaitingTable] = []

    /// A table that waits for another synchronization.
    public struct WaitingTable: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// Why it waits.
        public let reason: String
    }

    /// The conflicts of both directions. An edit that met a deletion is one, though both sides keep it.
    public var conflictCount: Int64 { Self.conflictCount(pulled: pulled, pushed: pushed) }

    /// The conflicts of two transfers of one synchronization.
    package static func conflictCount(pulled: Transfer?, pushed: Transfer?) -> Int64 {
        let (here, there) = (pulled?.conflictCount ?? 0, pushed?.conflictCount ?? 0)
        return here.addingSaturated(there) - min(here, pushed?.sharedConflictCount ?? 0)
    }

    /// How far the times of received changes were ahead of the local clock, if that is more than the clock
    /// accepts; else zero.
    public var skewMilliseconds: Int64 { pulled?.skewMilliseconds ?? 0 }
    /// The parked rows of both directions.
    public var parkedCount: Int64 {
        (pulled?.parkedCount ?? 0).addingSaturated(pushed?.parkedCount ?? 0)
    }
}
