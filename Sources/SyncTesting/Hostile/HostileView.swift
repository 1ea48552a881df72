import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// What a hostile device knows of the store that it talks to: all of it, as if it had pulled everything.
struct HostileView {
    /// A row, and who wrote it last as a whole.
    struct Version {
        let table: Int
        let key: [UInt8]
        let isTextKey: Bool
        let life: Int64
        let timestamp: Int64
        let author: ReplicaID
        let sequence: Int64
    }

    let store: StoreID
    let own: ReplicaID
    let vector: VersionVector
    /// The replicas of which anything is known.
    let replicas: [ReplicaID]
    let tables: [BundleHeader.Table]
    let rows: [Version]
    let now: Int64

    /// Looks into a store.
    init(_ synchronizer: Synchronizer) throws {
        let identity = try synchronizer.identity()
        (store, own, vector) = (identity.store, identity.replica, identity.vector)
        now = synchronizer.surroundings.milliseconds()
        (replicas, tables, rows) = try synchronizer.writer.read { db in
            let names = try Dictionary(
                Row.fetchAll(db, sql: "SELECT sid, rid FROM _sync_replica ORDER BY sid LIMIT 200").map {
                    (try $0.decode(Int64.self, atIndex: 0), try Self.identifier($0.decode(atIndex: 1)))
                }, uniquingKeysWith: { first, _ in first })
            let tables = try Row.fetchAll(
                db, sql: "SELECT tbl, name, key FROM _sync_table ORDER BY tracked DESC, tbl LIMIT 20")
            var numbers: [Int64: Int] = [:]
            var headers: [BundleHeader.Table] = []
            for row in tables {
                let number = try row.decode(Int64.self, atIndex: 0)
                numbers[number] = headers.count
                let columns = try String.fetchAll(
                    db,
                    sql: "SELECT name FROM _sync_column WHERE tbl = ? ORDER BY present DESC, col LIMIT 30",
                    arguments: [number])
                headers.append(
                    .init(name: try row.decode(atIndex: 1), key: try row.decode(atIndex: 2), columns: columns)
                )
            }
            let rows = try Row.fetchAll(
                db, sql: "SELECT tbl, pk, cl, hlc, sid, oseq FROM _sync_row ORDER BY r DESC LIMIT 60"
            ).compactMap { row -> Version? in
                let key = try row.decode(DatabaseValue.self, atIndex: 1)
                let text = String.fromDatabaseValue(key)
                let isText = if case .string = key.storage { true } else { false }
                guard let table = numbers[try row.decode(atIndex: 0)],
                    let author = names[try row.decode(atIndex: 4)]
                else { return nil }
                let bytes = isText ? Array((text ?? "").utf8) : Array(Data.fromDatabaseValue(key) ?? Data())
                return Version(
                    table: table, key: bytes, isTextKey: isText, life: try row.decode(atIndex: 2),
                    timestamp: try row.decode(atIndex: 3), author: author,
                    sequence: try row.decode(atIndex: 5))
            }
            return (names.sorted { $0.key < $1.key }.map(\.value), headers, rows)
        }
    }

    private static func identifier(_ data: Data) throws -> Identifier128 {
        guard let identifier = data.withUnsafeBytes({ Identifier128(bytes: $0) }) else {
            throw SimulationViolation(.integrity, "a replica has an identifier of \(data.count) bytes")
        }
        return identifier
    }
}
