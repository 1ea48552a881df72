import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Machines and file systems that tests make up.
final class VirtualPlaces: StorePlaces {
    private struct State {
        var machine = "one"
        var takesMarks = true
        var count = 0
        var files: [String: StorePlace] = [:]
    }

    private let state = Mutex(State())

    func setMachine(_ name: String) { state.withLock { $0.machine = name } }

    /// As when a program is killed, or stands still, before it sets one.
    func refuseMarks(_ refuses: Bool = true) { state.withLock { $0.takesMarks = !refuses } }

    func place(of path: String) -> StorePlace? {
        state.withLock { state in
            if state.files[path] == nil {
                state.count += 1
                state.files[path] = StorePlace(identity: "file \(state.count)")
            }
            var place = state.files[path]
            place?.machine = state.machine
            return place
        }
    }

    func setMark(_ mark: [UInt8], of path: String) -> Bool {
        _ = place(of: path)
        return state.withLock { state in
            guard state.takesMarks else { return false }
            state.files[path]?.mark = mark
            state.files[path]?.predecessors = []
            return true
        }
    }

    /// The file is another one from now on.
    func replace(_ path: String) { state.withLock { $0.files[path] = nil } }

    /// The file was replaced by one with another key.
    func rekey(_ path: String) {
        state.withLock { state in
            guard let old = state.files[path] else { return }
            state.count += 1
            state.files[path] = StorePlace(
                identity: "file \(state.count)",
                predecessors: old.predecessors + [old.identity].compactMap { $0 },
                mark: old.mark)
        }
    }

    func move(_ path: String, to other: String) {
        state.withLock { state in
            state.files[other] = state.files[path]
            state.files[path] = nil
        }
    }
}

extension TestStores {
    /// Opens a file that was copied from another one, with that one's passphrase.
    func open(_ name: String, copyOf original: String) throws -> TestReplica {
        let queue = try DatabaseQueue(path: path(name), configuration: Self.configuration(original))
        return try TestReplica(self, name, queue, tables: [])
    }

    /// Copies the file of a store that is closed.
    func copy(_ name: String, to other: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path(other) + suffix)
        }
        try FileManager.default.copyItem(atPath: path(name), toPath: path(other))
    }
}

extension TestReplica {
    var environment: SyncEnvironment { stores.clock.environment }

    var peer: StorePeer { StorePeer(queue, environment, closes: false) }

    /// Synchronizes with another store that is open.
    @discardableResult
    func meet(_ other: TestReplica, _ direction: SyncDirection = .both) throws -> SyncReport {
        stores.clock.advance(milliseconds: 10)
        return try SessionDriver(local: peer, remote: other.peer, remoteName: other.name, progress: nil)
            .run(direction)
    }

    /// The frames of a bundle.
    func bundle(since vector: VersionVector) throws -> [[UInt8]] {
        let frames = Mutex<[[UInt8]]>([])
        _ = try peer.send(since: vector, progress: nil) { frame in frames.withLock { $0.append(Array(frame)) }
        }
        return frames.withLock { $0 }
    }

    @discardableResult
    func apply(_ frames: [[UInt8]]) throws -> ApplySummary {
        try peer.receive { sink in
            for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
        }
    }

    func vector() throws -> VersionVector { try queue.read { try StoreMetadata.require($0).vector } }

    func replica() throws -> ReplicaID { try queue.read { try StoreMetadata.require($0).replicaID() } }

    func insert(_ number: UInt8, _ title: String) throws {
        try execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), title])
    }

    /// The rows and the versions of those that are not deleted.
    func livingState() throws -> [String] {
        try state(["note"]).filter { line in
            let words = line.split(separator: " ")
            return words.first == "note" || Int64(words[2])?.isMultiple(of: 2) != true
        }
    }

    /// The titles of all notes, in order.
    func titles() throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") }
    }
}

/// Lets all stores meet one another until nothing is new, and expects that they are equal.
func expectEqual(_ replicas: [TestReplica], sourceLocation: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<3 {
        for (index, one) in replicas.enumerated() {
            for other in replicas[(index + 1)...] { try one.meet(other) }
        }
    }
    for replica in replicas.dropFirst() {
        #expect(
            try replica.livingState() == replicas[0].livingState(), "\(replica.name)",
            sourceLocation: sourceLocation)
    }
}
