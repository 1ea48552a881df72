import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

/// Devices that stay connected.
enum Live {
    /// Commits a row now and then.
    static func commit(_ path: String, _ count: Int) throws {
        let live = try LiveSynchronization(Synchronizer(existing: Stores.open(path)))
        let connected = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try live.run { if case .connected = $0 { connected.signal() } }
            } catch {
                FileHandle.standardError.write(Data("commit: error: \(error)\n".utf8))
                exit(1)
            }
        }
        connected.wait()
        try insertPings(count, into: path)
        try Role.say(Role.Connected())
        while !FileHandle.standardInput.availableData.isEmpty {}
        live.stop()
    }

    /// Commits rows now and then, by another connection, as another part of an app has one.
    static func insertPings(_ count: Int, into path: String) throws {
        let queue = try Stores.open(path)
        for number in 0..<count {
            // Not in step with anything that polls.
            Thread.sleep(forTimeInterval: 0.15 + Double(number * 37 % 100) / 1000)
            try queue.write {
                try $0.execute(
                    sql: "INSERT INTO ping (id, sent) VALUES (?, ?)",
                    arguments: [UUID.v7(), monotonicSeconds()])
            }
        }
        try queue.close()
    }

    /// Tells how long the rows of others took to arrive, when the input ends.
    static func watch(_ path: String) throws {
        let queue = try Stores.open(path)
        let live = try LiveSynchronization(Synchronizer(existing: queue))
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            live.stop()
        }
        var arrivals = Arrivals()
        try live.run { event in
            switch event {
            case .connected: try Role.say(Role.Connected())
            case .synchronized: try arrivals.look(in: queue)
            case .disconnected(let error, _): throw error
            }
        }
        try Role.say(Role.Arrived(latencies: arrivals.latencies))
    }
}

/// How long the rows of others took to arrive, in seconds.
struct Arrivals {
    private(set) var latencies: [Double] = []
    private var last: Int64 = 0

    /// Looks for rows that came since the last look.
    mutating func look(in queue: DatabaseQueue) throws {
        let now = monotonicSeconds()
        let rows = try queue.read { [last] db in
            try Row.fetchAll(db, sql: "SELECT rowid, sent FROM ping WHERE rowid > ?", arguments: [last])
        }
        for row in rows {
            latencies.append(now - (row[1] as Double))
            last = max(last, row[0])
        }
    }
}
