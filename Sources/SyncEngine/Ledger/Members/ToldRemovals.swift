import CipherStore
import SyncWire

/// The replicas of removed members of which somebody was told that their files are not taken in: the files stay in the
/// mailbox for good, and it is said once.
enum ToldRemovals {
    private static let prefix = "membership.told "
    private static let countMax = 1_000

    static func load(_ db: Database) throws -> Set<ReplicaID> {
        Set(try SyncSetting.texts(db, withPrefix: prefix).compactMap { Identifier128(hexadecimal: $0.name) })
    }

    /// Notes that it was told of replicas. Who was removed can leave files under any number of names: beyond a bound all is
    /// told once more.
    static func add(_ db: Database, _ replicas: Set<ReplicaID>) throws {
        if try load(db).union(replicas).count > countMax {
            try SyncSetting.removeAll(db, withPrefix: prefix)
        }
        for replica in replicas.sorted().prefix(countMax) {
            try SyncSetting.set(db, "\(prefix)\(replica)", "removed")
        }
    }
}
