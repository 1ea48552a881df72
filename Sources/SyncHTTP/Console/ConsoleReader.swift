import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Synchronization

/// Reads what the page shows of a store. It writes nothing.
final class ConsoleReader: Sendable {
    /// How many rows are shown of each list.
    private static let itemCountMax = 100
    /// How many devices are.
    private static let deviceCountMax = 500
    /// Counting all rows reads all of a table, so it is done again after so many times as long as it took.
    private static let restFactor = 50.0

    private struct Counts {
        var tables: [ConsoleDocument.Table] = []
        var due = ContinuousClock.now
    }

    let store: HubStore
    private let counts = Mutex(Counts())

    init(_ store: HubStore) { self.store = store }

    /// When the rows of tables will be counted again, if they were not at the last reading.
    var countsAreDue: ContinuousClock.Instant { counts.withLock { $0.due } }

    /// Reads the store. Blocks.
    func read() throws -> ConsoleDocument {
        let synchronizer = store.synchronizer
        let identity = try synchronizer.identity()
        let registered = try store.register.devices()
        let parked = try synchronizer.parkedRows(limit: Self.itemCountMax)
        let streams = store.feed.deviceStreamCounts
        let taken = store.takenParts
        let now = store.now
        return try synchronizer.writer.read { db in
            var lags = try ReplicaLags(db)
            let contacts = try ServedState.contacts(db)
            let names = Self.names(registered, contacts)
            let devices = try registered.prefix(Self.deviceCountMax).map { device in
                let replica = device.revokedMilliseconds == nil ? device.replica : nil
                let rows = device.scope.rows.map { "\($0.table).\($0.column)" }
                return ConsoleDocument.Device(
                    device: device.id, label: device.label, replica: device.replica?.shortDescription,
                    readOnly: device.isReadOnly, tables: device.tables, rows: rows.isEmpty ? nil : rows,
                    enrolled: device.enrolledMilliseconds, seen: device.lastSeenMilliseconds,
                    synced: device.replica.flatMap { contacts[$0]?.at }, revoked: device.revokedMilliseconds,
                    streams: streams[device.id] ?? 0,
                    lag: try replica.map {
                        ConsoleDocument.Lag(
                            try lags.lag(of: $0, tables: device.tables, taken: taken[device.id]))
                    })
            }
            let known = Set(registered.compactMap(\.replica))
            let others = contacts.filter { !known.contains($0.key) && !lags.isRetired($0.key) }
                .sorted { $0.value.at > $1.value.at }.prefix(Self.itemCountMax)
            let peers = try others.map {
                ConsoleDocument.Peer(
                    replica: $0.key.shortDescription, name: $0.value.name, synced: $0.value.at,
                    lag: ConsoleDocument.Lag(try lags.lag(of: $0.key)))
            }
            return ConsoleDocument(
                now: now,
                store: ConsoleDocument.Store(
                    id: identity.store.description,
                    name: URL(fileURLWithPath: synchronizer.writer.path).lastPathComponent,
                    replica: identity.replica.shortDescription, tables: try tables(db),
                    devices: registered.count),
                devices: devices,
                peers: peers,
                remotes: try Self.remotes(db), conflicts: try Self.conflicts(db, names),
                parked: try Self.parked(db, parked))
        }
    }

    // MARK: Parts

    private func tables(_ db: Database) throws -> [ConsoleDocument.Table] {
        let start = ContinuousClock.now
        if let known = counts.withLock({ start < $0.due ? $0.tables : nil }) { return known }
        let tables = try ServedState.tableNames(db).map { name in
            ConsoleDocument.Table(
                name: name,
                rows: try Int64.fetchOne(
                    db, sql: "SELECT count(*) FROM main.\(name.quotedDatabaseIdentifier)") ?? 0)
        }
        let now = ContinuousClock.now
        counts.withLock { $0 = Counts(tables: tables, due: now + (now - start) * Self.restFactor) }
        return tables
    }

    typealias Contact = (name: String, at: Int64)

    /// What people call replicas.
    static func names(
        _ devices: [SyncHTTP.Device], _ contacts: [ReplicaID: Contact]
    ) -> [ReplicaID: String] {
        var names = contacts.mapValues { URL(fileURLWithPath: $0.name).lastPathComponent }
        for device in devices.reversed() {
            if let replica = device.replica { names[replica] = device.label }
        }
        return names.filter { !$0.value.isEmpty && $0.value != "/" }
    }

    private static func remotes(_ db: Database) throws -> [ConsoleDocument.Remote] {
        try ServedState.attempts(db, limit: itemCountMax).map {
            ConsoleDocument.Remote(
                name: $0.name, tried: $0.triedMilliseconds, succeeded: $0.succeededMilliseconds,
                failures: $0.failureCount, error: $0.error.map { String($0.prefix(300)) })
        }
    }

    /// What people call the writer of something.
    static func word(_ replica: ReplicaID, isLocal: Bool, _ names: [ReplicaID: String]) -> String {
        isLocal ? "this store" : names[replica] ?? replica.shortDescription
    }

    private static func conflicts(
        _ db: Database, _ names: [ReplicaID: String]
    ) throws -> ConsoleDocument.Conflicts {
        let items = try Conflict.request(ConflictFilter(limit: itemCountMax)).fetchAll(db)
        let word = { (writer: Conflict.Writer) in Self.word(writer.replica, isLocal: writer.isLocal, names) }
        return ConsoleDocument.Conflicts(
            open: try Conflict.request().fetchCount(db),
            items: items.map {
                ConsoleDocument.Conflicts.Item(
                    id: $0.id, table: $0.table, key: $0.keyText, column: $0.column,
                    lost: ShortValue.text($0.lost), writer: word($0.origin), winner: word($0.winner),
                    reason: $0.reason.rawValue, found: $0.foundMilliseconds)
            })
    }

    private static func parked(_ db: Database, _ rows: [ParkedRow]) throws -> ConsoleDocument.Parked {
        // Fewer than the bound are all.
        let count = try rows.count < itemCountMax ? Int64(rows.count) : ServedState.parkedRowCount(db)
        return ConsoleDocument.Parked(
            count: count,
            items: rows.map {
                ConsoleDocument.Parked.Item(
                    table: $0.table, key: $0.keyText, reason: $0.reason.rawValue, message: $0.message,
                    since: $0.sinceMilliseconds.flatMap { $0 > 0 ? $0 : nil }, otherTable: $0.otherTable,
                    otherKey: $0.otherKeyText)
            })
    }
}

/// The start of a value, for people.
enum ShortValue {
    private static let characterCount = 120
    private static let byteCount = 24

    static func text(
        _ value: DatabaseValue, characters characterCount: Int = characterCount,
        bytes byteCount: Int = byteCount
    ) -> String {
        switch value.storage {
        case .null: return "NULL"
        case .int64(let number): return String(number)
        case .double(let number): return String(number)
        case .string(let text):
            // Scalars: a character may have any number of marks.
            let start = text.unicodeScalars.prefix(characterCount)
            return start.endIndex == text.endIndex ? text : String(start) + "…"
        case .blob(let data):
            let start = "x'\(ByteText.hex(Array(data.prefix(byteCount))))"
            return data.count > byteCount ? "\(start)…' (\(data.count) bytes)" : start + "'"
        }
    }
}
