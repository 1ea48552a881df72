import CipherStore
import SyncWire
import Testing

@testable import SyncEngine

/// Portions that are made while the remote applies the one before.
@Suite struct PushAheadTests {
    private let stores: TestStores
    private let hub: TestReplica
    private let phone: TestReplica

    init() throws {
        stores = try TestStores()
        stores.clock.chainStride.withLock { $0 = 1 }
        hub = try stores.create("hub.db")
        phone = try stores.clone(hub, as: "phone.db")
    }

    private func insert(_ range: ClosedRange<Int>) throws {
        for number in range {
            try phone.execute("INSERT INTO note (id, title) VALUES (?, ?)", [itemKey(number), "t\(number)"])
        }
    }

    private func push(
        to peer: FaultyPeer, cancellation: SyncCancellation? = nil,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> SyncReport {
        var driver = SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: progress)
        driver.cancellation = cancellation
        return try driver.run(.push)
    }

    @Test func withoutRoomForThemTheyAreMadeWhenTheyAreDue() throws {
        try insert(1...25)
        let peer = FaultyPeer(hub.peer, changeCountMax: 10)
        peer.keepsNothing = true
        #expect(try push(to: peer).pushed?.rowCount == 25)
        // It is not tried again for each portion.
        #expect(peer.bundleCount == 3 && peer.begunAheadCount == 1 && peer.sentAheadCount == 0)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    @Test func whatIsWrittenHereMeanwhileFollows() throws {
        try insert(1...12)
        var number = 100
        let write = {
            number += 1
            try insert(number...number)
            // A fold, so that the portion that was made ahead is not the newest state.
            _ = try phone.peer.greet()
            try phone.execute("UPDATE note SET title = 'later' WHERE id = ?", [itemKey(12)])
        }
        let peer = FaultyPeer(hub.peer, meanwhile: (.received, write), changeCountMax: 4)
        _ = try push(to: peer)
        #expect(peer.sentAheadCount > 0)
        _ = try push(to: FaultyPeer(hub.peer))
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        #expect(try hub.value("SELECT count(*) FROM note WHERE title = 'later'", as: Int.self) == 1)
    }

    @Test func aPushThatBreaksLeavesNothingOfWhatWasMadeAhead() throws {
        try insert(1...20)
        let cut = FaultyPeer(hub.peer, cut: .received, changeCountMax: 5)
        #expect(throws: FaultyPeer.Cut.self) { try push(to: cut) }
        #expect(cut.madeAheadCount == 1 && cut.sentAheadCount == 0)
        #expect(try hub.value("SELECT count(*) FROM note", as: Int.self) == 5)
        #expect(try push(to: FaultyPeer(hub.peer, changeCountMax: 5)).pushed?.rowCount == 15)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    @Test func aPortionThatIsRefusedEndsTheMakingOfTheNext() throws {
        try insert(1...20)
        let cut = FaultyPeer(hub.peer, cut: .receiving, changeCountMax: 5)
        #expect(throws: FaultyPeer.Cut.self) { try push(to: cut) }
        #expect(cut.begunAheadCount == 1 && cut.madeAheadCount == 0)
        #expect(try push(to: FaultyPeer(hub.peer, changeCountMax: 5)).pushed?.rowCount == 20)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    @Test func aCancellationEndsTheMakingAndWhatIsThereStays() throws {
        try insert(1...20)
        let cancellation = SyncCancellation()
        let peer = FaultyPeer(
            hub.peer, meanwhile: (.received, { cancellation.cancel() }), changeCountMax: 5)
        #expect(throws: CancellationError.self) { try push(to: peer, cancellation: cancellation) }
        #expect(try hub.value("SELECT count(*) FROM note", as: Int.self) == 5)
        #expect(try push(to: FaultyPeer(hub.peer)).pushed?.rowCount == 15)
    }

    @Test func progressCountsThemWhenTheyGo() throws {
        try insert(1...25)
        var seen: [Int64] = []
        _ = try push(to: FaultyPeer(hub.peer, changeCountMax: 5)) { seen.append($0.completedRowCount) }
        #expect(seen == seen.sorted() && seen.last == 25)
        #expect(Set(seen).isSuperset(of: [5, 10, 15, 20, 25]))
    }
}
