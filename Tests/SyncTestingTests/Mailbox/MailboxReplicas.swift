import CipherStore
import Foundation
import SyncEngine
import SyncWire
import TestSupport

@testable import SyncTesting

/// Replicas of one database, each on a machine of its own.
final class MailboxReplicas {
    struct Replica {
        let queue: DatabaseQueue
        let synchronizer: Synchronizer
        var transport: MailboxTransport

        /// What its table holds.
        func rows() throws -> [String] {
            try queue.read { db in
                try Row.fetchAll(db, sql: "SELECT hex(id), title, body FROM note ORDER BY id").map {
                    $0.databaseValues.map(\.description).joined(separator: " ")
                }
            }
        }

        /// What its table holds, and what it says of its versions.
        func state() throws -> [String] {
            let versions = try queue.read { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT hex(r.pk), r.cl, r.hlc, hex(p.rid), r.oseq
                        FROM _sync_row r JOIN _sync_replica p ON p.sid = r.sid ORDER BY 1
                        """
                ).map { $0.databaseValues.map(\.description).joined(separator: " ") }
            }
            return try rows() + versions
        }
    }

    let factory: StoreFactory
    let clock: SimulatedClock
    private(set) var all: [Replica] = []

    init(_ count: Int, seed: UInt64, mailboxes: (Int) -> any Mailbox) throws {
        DerivedKeys.remember()
        factory = try StoreFactory(in: Simulation.defaultFolder)
        clock = SimulatedClock(seed: seed)
        try factory.create("0")
        for number in 0..<count {
            if number > 0 {
                try all[0].synchronizer.clone(
                    to: factory.path("\(number)"), passphrase: factory.secret())
            }
            let queue = try factory.open("\(number)")
            if number == 0 {
                try queue.write {
                    try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT)")
                }
            }
            let synchronizer = try Synchronizer(
                queue, tables: number == 0 ? ["note"] : [], environment: clock.environment(of: number))
            all.append(
                Replica(
                    queue: queue, synchronizer: synchronizer,
                    transport: try Self.transport(mailboxes(number))))
        }
    }

    deinit { factory.remove() }

    static func transport(_ mailbox: any Mailbox) throws -> MailboxTransport {
        var transport = MailboxTransport(
            mailbox: mailbox, passphrase: try Passphrase("folder"), cost: .minimum)
        transport.compaction.bundleCountMax = 6
        return transport
    }

    static func key(_ number: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: number), count: 16) }

    func insert(_ replica: Int, _ number: Int, _ title: String = "row") throws {
        try execute(
            replica, "INSERT OR REPLACE INTO note (id, title) VALUES (?, ?)", [Self.key(number), title])
    }

    func execute(_ replica: Int, _ sql: String, _ arguments: StatementArguments) throws {
        clock.advance(10)
        let now = clock.now(replica)
        try all[replica].queue.write { db in
            let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
            try db.execute(sql: sql, arguments: arguments)
            // The triggers read the system's clock; replicas of a run have one of their own.
            try db.execute(sql: "UPDATE _sync_log SET ms = ? WHERE seq > ?", arguments: [now, last])
        }
    }

    @discardableResult
    func sync(_ replica: Int, _ direction: SyncDirection = .both) throws -> FolderReport {
        clock.advance(10)
        return try all[replica].synchronizer.run(direction, all[replica].transport)
    }

    /// Synchronizes until nothing is exchanged any more.
    ///
    /// - returns: Whether that came about, with nothing left to be said.
    func settle() throws -> Bool {
        for _ in 0..<10 {
            let reports = try all.indices.map { try sync($0) }
            if reports.allSatisfy({ $0.pulled == nil && $0.pushed == nil && $0.remarks.isEmpty }) {
                return true
            }
        }
        return false
    }

    func areEqual() throws -> Bool {
        let first = try all[0].state()
        return try all.dropFirst().allSatisfy { try $0.state() == first }
    }
}
