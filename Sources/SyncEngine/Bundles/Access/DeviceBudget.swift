import CipherStore
import SyncWire

/// What one device of a server may bring in all that others have to carry along: replicas and names.
///
/// A store keeps a bounded number of each (``AdmissionLimits``). Without a bound for each device, one of them could take
/// all of it, and nobody else could bring anything new.
package struct DeviceBudget {
    /// The replicas that a device may be the first to name.
    static let replicaCountMax = 1_000
    /// The tables, columns and other names.
    static let nameCountMax = 4_000

    private let db: Database
    private let device: Int64
    private let before: Capacity

    /// Counts what there is before something is taken in of a device.
    package init(_ db: Database, device: Int64) throws {
        try MetadataSchema.upgrade(db)
        self.db = db
        self.device = device
        before = try Capacity(db)
    }

    /// Counts what is new, in the same transaction.
    ///
    /// - throws: ``SyncError`` of code `capacityExceeded` when the device brought too much by now.
    package func charge() throws {
        let after = try Capacity(db)
        let replicas = after.replicaCount - before.replicaCount
        let names = after.nameCount - before.nameCount
        if replicas > 0 {
            try charge(
                replicas, to: "replicas", Self.replicaCountMax, "replicas that the server did not know")
        }
        if names > 0 {
            try charge(
                names, to: "names", Self.nameCountMax, "tables and columns that the server did not know")
        }
    }

    private func charge(_ count: Int, to account: String, _ limit: Int, _ what: String) throws {
        let name = SyncSetting.name(ofDevice: device, account)
        let total = (try SyncSetting.integer(db, name) ?? 0).addingSaturated(Int64(count))
        guard total <= limit else {
            throw SyncError(.capacityExceeded, "this device named over \(limit) \(what)")
        }
        try SyncSetting.set(db, name, total)
    }
}
