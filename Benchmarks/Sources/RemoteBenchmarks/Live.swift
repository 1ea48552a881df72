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
        // Another connection, as another part of an app has one.
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
        try Role.say(Role.Connected())
        while !FileHandle.standardInput.availableData.isEmpty {}
        live.stop()
    }

    /// Tells how long the rows of others took to arrive, when the input ends.
    static func watch(_ path: String) throws {
        let queue = try Stores.open(path)
        let live = try LiveSynchronization(Synchronizer(existing: queue))
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            live.stop()
        }
        var latencies: [Double] = []
        var last: Int64 = 0
        try live.run { event in
            switch event {
            case .connected: try Role.say(Role.Connected())
            case .synchronized:
                let now = monotonicSeconds()
                let rows = try queue.read { db in
                    try Row.fetchAll(
                        db, sql: "SELECT rowid, sent FROM ping WHERE rowid > ?", arguments: [last])
                }
                for row in rows {
                    latencies.append(now - (row[1] as Double))
                    last = max(last, row[0])
                }
            case .disconnected(let error, _): throw error
            }
        }
        try Role.say(Role.Arrived(latencies: latencies))
    }
}
