import CipherStore
import SyncWire

/// The replicas of removed members of which somebody was told that their files are not taken in: the files stay in the
/// mailbox for good, and it is said once.
enum ToldRemovals {
    private static let prefix = "membership.told "

    static func load(_ db: Database) throws -> Set<ReplicaID> {
        Set(try SyncSetting.texts(db, withPrefix: prefix).compactMap { Identifier128(hexadecimal: $0.name) })
    }

    static func add(_ db: Database, _ replicas: Set<ReplicaID>) throws {
        for replica in replicas { try SyncSetting.set(db, "\(prefix)\(replica)", "removed") }
    }
}
