import CipherStore
import Foundation
import SyncWire

/// What is known of bundles that were begun.
extension BundleInbox {
    /// Who sends a bundle that was begun, and how much of it is here, in bytes; nil when it was not begun.
    package func entry(_ identifier: [UInt8]) throws -> (sender: ReplicaID, byteCount: Int)? {
        try database.read { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT sender, bytes FROM main._sync_inbox WHERE bundle = ?",
                arguments: [Data(identifier)])
            return try row.map {
                (try StoreMetadata.identifier($0.decode(atIndex: 0)), try $0.decode(atIndex: 1))
            }
        }
    }

    /// How much of a bundle is here that has some parts already; nil when it is not here, or one of them is missing.
    ///
    /// Whoever sends the same again and again makes readers wait for that, and nobody who writes.
    ///
    /// - parameter positions: Where the parts stand.
    func state(of identifier: [UInt8], having positions: [Int64]) throws -> State? {
        try database.read { db in
            guard let id = try Self.find(db, identifier),
                try positions.allSatisfy({ try Self.has(db, id, $0) })
            else { return nil }
            return try Self.state(db, id, identifier)
        }
    }

    /// Forgets what a replica has not finished, whose device goes by another identity now.
    package static func forget(_ db: Database, ofSender sender: ReplicaID) throws {
        try remove(db, "sender = ?", [sender.data])
    }

    /// Forgets a bundle.
    public func forget(_ identifier: [UInt8]) throws {
        try database.write { try Self.remove($0, "bundle = ?", [Data(identifier)]) }
    }
}
