import CipherStore
import Foundation
import Testing

@testable import SyncEngine
@testable import SyncWire

@Suite struct BundleInboxTests {
    let stores: TestStores
    let a: TestReplica
    let b: TestReplica

    init() throws {
        stores = try TestStores()
        a = try stores.create()
        b = try stores.clone(a, as: "b.db")
        for number in UInt8(1)..<40 {
            try a.execute("INSERT INTO note (id, body) VALUES (?, randomblob(40000))", [key(number)])
        }
    }

    /// The frames of a bundle of everything: a header, chunks, an end.
    private func frames() throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        let peer = StorePeer(a.queue, stores.clock.environment, closes: false)
        _ = try peer.send(since: VersionVector(), progress: nil) { frames.append(Array($0)) }
        return frames
    }

    private func inbox(_ limits: BundleInbox.Limits = .init()) -> BundleInbox {
        BundleInbox(b.synchronizer, limits: limits)
    }

    private func begin(_ inbox: BundleInbox, _ frames: [[UInt8]]) throws -> BundleInbox.State {
        try frames[0].withUnsafeBytes { try inbox.begin($0) }
    }

    @discardableResult
    private func add(_ inbox: BundleInbox, _ frame: [UInt8], _ state: BundleInbox.State) throws
        -> BundleInbox.State
    {
        try frame.withUnsafeBytes { try inbox.add($0, to: state.identifier) }
    }

    private func kept() throws -> Int? {
        try b.value("SELECT (SELECT count(*) FROM _sync_inbox) + (SELECT count(*) FROM _sync_inbox_part)")
    }

    @Test func aBrokenTransferGoesOnWithTheMissingChunks() throws {
        let frames = try frames()
        #expect(frames.count >= 7)
        var state = try begin(inbox(), frames)
        #expect(state.firstMissingChunk == 0)
        for frame in frames[1...2] { state = try add(inbox(), frame, state) }
        try add(inbox(), frames[4], state)
        // The process ended, and another one begins with the same bundle.
        let again = try self.frames()
        #expect(again == frames)
        state = try begin(inbox(), again)
        #expect(state.firstMissingChunk == 2)
        #expect(!state.isComplete)
        #expect(throws: SyncError.self) { try inbox().apply(state.identifier) }
        #expect(try b.dump().isEmpty)
        for frame in frames[3...] { state = try add(inbox(), frame, state) }
        #expect(state.isComplete)
        #expect(try inbox().apply(state.identifier).rowCount == 39)
        #expect(try a.dump() == b.dump())
        #expect(try kept() == 0)
    }

    @Test func aDamagedChunkIsNotKept() throws {
        let frames = try frames()
        let state = try begin(inbox(), frames)
        var damaged = frames[1]
        damaged[damaged.count / 2] ^= 1
        let error = #expect(throws: WireError.self) { try add(inbox(), damaged, state) }
        #expect(error?.code == .corrupted)
        #expect(throws: WireError.self) { try add(inbox(), Array(frames[1].dropLast()), state) }
        #expect(throws: WireError.self) { try add(inbox(), frames[0], state) }
        #expect(try begin(inbox(), frames).byteCount == Int64(frames[0].count))
    }

    @Test func partsThatMakeNoWholeAreForgotten() throws {
        let frames = try frames()
        var state = try begin(inbox(), frames)
        for frame in frames[1...] { state = try add(inbox(), frame, state) }
        // A chunk of another bundle: its own hash is right, that of the bundle is not.
        try a.execute("UPDATE note SET body = randomblob(40000)")
        let others = try self.frames()
        try b.execute(
            "UPDATE _sync_inbox_part SET frame = ? WHERE id = (SELECT min(id) + 1 FROM _sync_inbox_part)",
            [Data(others[1])])
        let before = try b.dump()
        #expect(throws: (any Error).self) { try inbox().apply(state.identifier) }
        #expect(try b.dump() == before)
        #expect(try kept() == 0)
    }

    @Test func leftoversAreRemovedAndWhatIsKeptIsBounded() throws {
        let frames = try frames()
        let first = try begin(inbox(), frames)
        try add(inbox(), frames[1], first)
        // The sender has a newer snapshot: the one that was begun can't be finished any more.
        try a.execute("UPDATE note SET title = 'new'")
        let newer = try self.frames()
        let second = try begin(inbox(), newer)
        #expect(second.identifier != first.identifier)
        #expect(try kept() == 2)
        #expect(throws: WireError.self) { try add(inbox(), frames[2], first) }
        var limits = BundleInbox.Limits()
        limits.byteCountMax = Int64(newer[0].count + newer[1].count)
        try add(inbox(limits), newer[1], second)
        let error = #expect(throws: WireError.self) { try add(inbox(limits), newer[2], second) }
        #expect(error?.code == .tooLarge)
        #expect(try kept() == 0)
    }

    /// A chunk of one byte, which goes on in the next one.
    private func chunk(_ number: UInt32) -> [UInt8] {
        let prefix = withUnsafeBytes(of: number.littleEndian) { Array($0) } + [ChunkLayout.continued, 0]
        var hash = BundleHash()
        let digest = prefix.withUnsafeBytes { prefix in
            [UInt8(0)].withUnsafeBytes { Array(hash.addChunk(prefix: prefix, body: $0)) }
        }
        let payload = prefix + digest + [0]
        return [Frame.Kind.chunk.rawValue, UInt8(payload.count), 0, 0, 0] + payload
    }

    @Test func aBundleHasNoMoreChunksThanItsBytesNeed() throws {
        let frames = try frames()
        var limits = BundleInbox.Limits()
        #expect(limits.chunkCountMax == 65_536)
        limits.byteCountMax = 1 << 20
        let state = try begin(inbox(limits), frames)
        let some = try inbox(limits).add((0..<1024).map { chunk($0) }, to: state.identifier)
        #expect(some.firstMissingChunk == 1024 && !some.isComplete)
        let error = #expect(throws: WireError.self) { try add(inbox(limits), chunk(1024), state) }
        #expect(error?.code == .tooLarge)
        #expect(try kept() == 0)
    }

    @Test func partsThatComeAgainMakeNobodyWaitWhoWrites() throws {
        let frames = try frames()
        let state = try begin(inbox(), frames)
        let some = try inbox().add([frames[1], frames[3]], to: state.identifier)
        let other = try DatabaseQueue(
            path: stores.path("b.db"), configuration: TestStores.configuration("b.db"))
        try other.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                let again = try add(inbox(), frames[1], state)
                let both = try inbox().add([frames[3], frames[1]], to: state.identifier)
                #expect(again == some && both == some)
                #expect(throws: DatabaseError.self) { try add(inbox(), frames[2], state) }
                return .rollback
            }
        }
        #expect(try inbox().add(frames[1...3], to: state.identifier).firstMissingChunk == 3)
    }

    @Test func aBundleThatCanNotBeAppliedIsNotBegun() throws {
        let stranger = try TestStores(seed: 5).create()
        let inbox = BundleInbox(stranger.synchronizer)
        let error = #expect(throws: SyncError.self) { try begin(inbox, try frames()) }
        #expect(error?.code == .otherStore)
        var later: [[UInt8]] = []
        let peer = StorePeer(a.queue, stores.clock.environment, closes: false)
        let known = try peer.greet().vector
        _ = try peer.send(since: known, progress: nil) { later.append(Array($0)) }
        let missing = #expect(throws: SyncError.self) { try begin(self.inbox(), later) }
        #expect(missing?.code == .missingChanges)
    }
}
