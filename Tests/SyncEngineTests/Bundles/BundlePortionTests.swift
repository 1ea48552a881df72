import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// A push to a remote that takes only so much at once.
@Suite struct BundlePortionTests {
    private func pair(
        _ stores: TestStores, stride: Int64 = 1
    ) throws -> (hub: TestReplica, phone: TestReplica) {
        stores.clock.chainStride.withLock { $0 = stride }
        let hub = try stores.create("hub.db")
        return (hub, try stores.clone(hub, as: "phone.db"))
    }

    private func insert(_ range: ClosedRange<Int>, _ replica: TestReplica) throws {
        for number in range {
            try replica.execute(
                "INSERT INTO note (id, title) VALUES (?, ?)", [itemKey(number), "t\(number)"])
        }
    }

    private func push(
        _ replica: TestReplica, to peer: FaultyPeer, _ direction: SyncDirection = .push,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> SyncReport {
        try SessionDriver(local: replica.peer, remote: peer, remoteName: "hub", progress: progress)
            .run(direction)
    }

    @Test func everythingArrivesAFewChangesAtATime() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...25, phone)
        let peer = FaultyPeer(hub.peer, changeCountMax: 10)
        var seen: [SyncProgress] = []
        let report = try push(phone, to: peer) { seen.append($0) }
        #expect(peer.bundleCount == 3)
        // The remote had each portion but the first one as soon as it had applied the one before.
        #expect(peer.madeAheadCount == 2 && peer.sentAheadCount == 2)
        #expect(report.pushed?.rowCount == 25)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        // The whole is known from the beginning, and never begins anew.
        #expect(seen.map(\.completedRowCount) == seen.map(\.completedRowCount).sorted())
        #expect(Set(seen.map(\.totalRowCount)) == [25] && seen.last?.completedRowCount == 25)
        #expect(try push(phone, to: peer).pushed == nil)
    }

    @Test func aChangeThatOthersMakeInBetweenIsKept() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        let third = try stores.clone(hub, as: "third.db")
        try insert(1...9, phone)
        var isFirst = true
        let peer = FaultyPeer(
            hub.peer,
            meanwhile: (
                .received,
                {
                    guard isFirst else { return }
                    isFirst = false
                    // What came so far can be had, edited and brought back before the rest comes.
                    try third.meet(hub)
                    #expect(try third.value("SELECT count(*) FROM note", as: Int.self) == 3)
                    try third.execute("UPDATE note SET title = 'third' WHERE id = ?", [itemKey(1)])
                    try third.meet(hub)
                }
            ), changeCountMax: 3)
        _ = try push(phone, to: peer)
        #expect(peer.bundleCount == 3)
        // What was made ahead was not for a remote that knows that change; there was no second attempt.
        #expect(peer.madeAheadCount == 1 && peer.sentAheadCount == 0)
        for replica in [phone, third] { try replica.meet(hub) }
        #expect(try hub.value("SELECT count(*) FROM note WHERE title = 'third'", as: Int.self) == 1)
        for replica in [phone, third] { #expect(try replica.state(["note"]) == hub.state(["note"])) }
    }

    @Test func aPushThatBreaksGoesOnWhereItWas() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...20, phone)
        #expect(throws: FaultyPeer.Cut.self) {
            try push(phone, to: FaultyPeer(hub.peer, cut: .received, changeCountMax: 5))
        }
        #expect(try hub.value("SELECT count(*) FROM note", as: Int.self) == 5)
        try expectHealthy([hub, phone])
        let peer = FaultyPeer(hub.peer, changeCountMax: 5)
        #expect(try push(phone, to: peer).pushed?.rowCount == 15)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    @Test func aRowGoesWithWhatWasWrittenToItLater() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...6, phone)
        // A fold in between, or else the row would have one version.
        _ = try phone.peer.greet()
        try insert(7...8, phone)
        try phone.execute("UPDATE note SET title = 'later' WHERE id = ?", [itemKey(2)])
        try insert(9...12, phone)
        var titles: [[String]] = []
        func look() throws {
            titles.append(
                try hub.queue.read {
                    try String.fetchAll(
                        $0, sql: "SELECT coalesce(title, '-') FROM note WHERE id = ?",
                        arguments: [itemKey(2)])
                })
        }
        let peer = FaultyPeer(hub.peer, meanwhile: (.received, look), changeCountMax: 3)
        _ = try push(phone, to: peer)
        #expect(titles.first == ["later"] && peer.bundleCount > 1)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    @Test func otherReplicasChangesGoWithTheRowsThatTheyAreIn() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        let friend = try stores.clone(hub, as: "friend.db")
        try insert(1...8, phone)
        try phone.meet(friend)
        try friend.execute("UPDATE note SET stars = 5 WHERE id = ?", [itemKey(8)])
        try phone.meet(friend)
        let peer = FaultyPeer(hub.peer, cut: .received, changeCountMax: 2)
        #expect(throws: FaultyPeer.Cut.self) { try push(phone, to: peer) }
        // The friend's change counts as known now: it has to be there.
        #expect(try hub.value("SELECT stars FROM note WHERE stars = 5", as: Int.self) == 5)
        _ = try push(phone, to: FaultyPeer(hub.peer, changeCountMax: 2))
        #expect(try hub.state(["note"]) == phone.state(["note"]))
    }

    /// A change that was replaced before it was sent counts as known. A friend that got it directly builds on it.
    @Test func aRowThatAnotherReplicaBuildsOnIsAskedFor() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        let friend = try stores.clone(hub, as: "friend.db")
        try insert(1...1, phone)
        try phone.meet(friend)
        try insert(2...6, phone)
        try phone.execute("INSERT OR REPLACE INTO note (id, title) VALUES (?, 'again')", [itemKey(1)])
        let cut = FaultyPeer(hub.peer, cut: .received, changeCountMax: 2)
        #expect(throws: FaultyPeer.Cut.self) { try push(phone, to: cut) }
        #expect(try hub.value("SELECT count(*) FROM note WHERE title IN ('t1', 'again')", as: Int.self) == 0)
        try friend.execute("UPDATE note SET stars = 5 WHERE id = ?", [itemKey(1)])
        // Both directions: the hub asks for the row, and so does a third replica that knows what the hub knew.
        let third = try stores.clone(hub, as: "third.db")
        try friend.meet(hub)
        #expect(try hub.value("SELECT stars FROM note WHERE title = 't1'", as: Int.self) == 5)
        try third.meet(hub)
        #expect(try third.state(["note"]) == hub.state(["note"]))
        for _ in 0..<2 { for replica in [phone, friend, third] { try replica.meet(hub) } }
        for replica in [phone, friend, third] { #expect(try replica.state(["note"]) == hub.state(["note"])) }
        try expectHealthy([hub, phone, friend, third])
    }

    @Test func aRemoteThatFindsItTooMuchGetsLess() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...40, phone)
        var limit = 3
        let peer = PatientPeer(hub, limit: { limit })
        _ = try SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: nil).run(.push)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        #expect(!peer.isAskedForMoreTime && peer.refusalCount == 2)
        // What takes too long and can't be divided, such as a fold of a few entries, goes when the remote takes the time.
        stores.clock.chainStride.withLock { $0 = 256 }
        try insert(41...45, phone)
        limit = 0
        _ = try SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: nil).run(.push)
        #expect(peer.isAskedForMoreTime)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        // And where it does not, that is said, and everything is as before.
        try insert(46...47, phone)
        peer.isStubborn = true
        let before = try hub.state(["note"])
        #expect {
            try SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: nil).run(.push)
        } throws: { ($0 as? SyncError)?.code == .tooMuchAtOnce }
        #expect(try hub.state(["note"]) == before)
        try expectHealthy([hub, phone])
    }

    @Test func aRemoteThatTakesLongerEachTimeIsAskedAgain() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        stores.clock.chainStride.withLock { $0 = 256 }
        try insert(1...5, phone)
        let peer = PatientPeer(hub, limit: { 0 })
        peer.askingCountMin = 4
        _ = try SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: nil).run(.push)
        // Less four times, and more time three times in vain.
        #expect(peer.refusalCount == 8)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        try expectHealthy([hub, phone])
    }

    /// Its vector rises, and not for this replica.
    @Test func aRemoteThatDoesNotGetFurtherIsNotSentTheSameForEver() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...9, phone)
        let peer = ForgetfulPeer(hub)
        _ = try SessionDriver(local: phone.peer, remote: peer, remoteName: "hub", progress: nil).run(.push)
        // Once, again, and then all of the rest.
        #expect(peer.bundleCount == 3)
    }

    @Test func aRowOfARenamedTableIsAskedFor() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...2, phone)
        try phone.meet(hub)
        try phone.migrate("rename") { try $0.execute(sql: "ALTER TABLE note RENAME TO memo") }
        try hub.queue.write { db in
            try db.execute(sql: "UPDATE _sync_state SET applying = 1")
            try db.execute(sql: "DELETE FROM note WHERE title = 't1'")
            try db.execute(sql: "UPDATE _sync_state SET applying = 0")
            try db.execute(sql: "DELETE FROM _sync_row WHERE pk = ?", arguments: [itemKey(1)])
            try DigestLedger.invalidate(db)
        }
        try phone.execute("UPDATE memo SET stars = 3 WHERE id = ?", [itemKey(1)])
        try phone.meet(hub)
        #expect(try hub.value("SELECT stars FROM note WHERE title = 't1'", as: Int.self) == 3)
    }

    /// A bundle of everything says what was deleted by what is not in it.
    @Test func aBundleOfEverythingIsNotDivided() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores)
        try insert(1...6, phone)
        try phone.meet(hub)
        try phone.execute("DELETE FROM note WHERE id = ?", [itemKey(1)])
        try phone.meet(hub)
        #expect(try phone.synchronizer.compact().forgottenDeletionCount == 1)
        try insert(7...12, phone)
        _ = try phone.peer.greet()
        for (known, isPart) in [(VersionVector(), false), (try hub.vector(), true)] {
            var request = TransferRequest(base: known)
            request.changeCountMax = 2
            let found = try phone.queue.read { db in
                let store = try #require(try FoldedStore.ifFolded(db, stores.clock.environment))
                return try BundlePortion(store, request).isPart
            }
            #expect(found == isPart)
        }
    }

    @Test func aLongFoldHasPointsOnItsWay() throws {
        let stores = try TestStores()
        let (hub, phone) = try pair(stores, stride: 256)
        try phone.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO note (id, title) SELECT randomblob(16), 't' || i FROM n
            """)
        let peer = FaultyPeer(hub.peer, changeCountMax: 300)
        _ = try push(phone, to: peer)
        #expect(peer.bundleCount == 4)
        #expect(try hub.state(["note"]) == phone.state(["note"]))
        // A number far off, which another program may write, makes no more points than a store can bear.
        try phone.queue.write { db in
            try db.execute(sql: "DELETE FROM note WHERE title = 't1'")
            try db.execute(
                sql: "UPDATE _sync_log SET seq = 9000000000000 WHERE seq = (SELECT max(seq) FROM _sync_log)")
        }
        _ = try phone.peer.greet()
        #expect(try #require(try phone.value("SELECT count(*) FROM _sync_chain", as: Int.self)) < 5000)
    }

    /// Of a table of which all rows have to come, what is missing in a bundle counts as deleted.
    @Test func aTableOfWhichEverythingIsNeededIsNotDivided() throws {
        let stores = try TestStores()
        stores.clock.chainStride.withLock { $0 = 1 }
        let replica = try stores.create()
        for number in UInt8(1)...20 { try replica.insert(number, "\(number)") }
        try replica.queue.write { db in
            let store = try FoldedStore.fold(db, stores.clock.environment)
            let own = try store.metadata.replicaID()
            var request = TransferRequest(base: VersionVector([own: 1]))
            request.changeCountMax = 5
            #expect(try BundlePortion(store, request).isPart)
            // Deletions of one of the tables were forgotten that the receiver does not know.
            let other = Identifier128(high: 1, low: 2)
            _ = try ReplicaRegister(db: db).number(of: other, at: 0)
            let note = try #require(SyncedTable.loadAll(db).first { $0.name == "note" })
            let vector = VersionVector([own: 20, other: 5])
            try Coverage.raise(
                db, note.number, to: Coverage.Part(known: vector, floor: VersionVector([other: 5])))
            let later = try FoldedStore.fold(db, stores.clock.environment)
            #expect(try !BundlePortion(later, request).isPart)
        }
    }
}

/// A remote that refuses bundles of more than some rows.
private final class PatientPeer: PacedPeer {
    private let inner: TestReplica
    private let limit: () -> Int
    let changeCountMax: Int64 = 200
    var isStubborn = false
    /// How often it has to be asked before it takes more time.
    var askingCountMin = 1
    private var askingCount = 0
    var isAskedForMoreTime: Bool { askingCount > 0 }
    private(set) var refusalCount = 0

    init(_ inner: TestReplica, limit: @escaping () -> Int) {
        self.inner = inner
        self.limit = limit
    }

    func askForMoreTime() { askingCount += 1 }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        let most = askingCount >= askingCountMin && !isStubborn ? Int.max : limit()
        // Asked for each row.
        let counter = CountingClock(most)
        do {
            let terms = UploadTerms(startClock: { { counter.isOver() } })
            return try inner.peer.receiveStored(on: { _ in terms }, { _, sink in try frames(sink) })
        } catch {
            refusalCount += 1
            throw error
        }
    }

    func greet() throws -> Greeting { try inner.peer.greet() }
    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.peer.send(request, progress: progress, to: sink) }
    func meet(_ greeting: Greeting) throws -> [Fork] { try inner.peer.meet(greeting) }
    func renewIdentity(_ forks: [Fork]) throws { try inner.peer.renewIdentity(forks) }
    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try inner.peer.remember(peer, name: name, knowing: vector)
    }
    func close() {}
}

/// A remote whose greetings say that it knows nothing of the others, and something new of itself.
private final class ForgetfulPeer: PacedPeer {
    private let inner: TestReplica
    let changeCountMax: Int64 = 2
    private(set) var bundleCount = 0
    private var count: Int64 = 0

    init(_ inner: TestReplica) { self.inner = inner }

    func greet() throws -> Greeting {
        let greeting = try inner.peer.greet()
        count += 1
        let vector = VersionVector([greeting.replica: greeting.vector[greeting.replica] + count])
        return Greeting(
            store: greeting.store, replica: greeting.replica, vector: vector,
            ownSequence: greeting.ownSequence)
    }

    func receive(_ frames: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> ApplySummary {
        bundleCount += 1
        // One that is asked for ever would never end the test.
        guard bundleCount < 20 else { throw SyncError(.cancelled, "it is sent the same for ever") }
        try frames { _ in }
        return ApplySummary()
    }

    func askForMoreTime() {}
    func send(
        _ request: TransferRequest, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary { try inner.peer.send(request, progress: progress, to: sink) }
    func meet(_ greeting: Greeting) throws -> [Fork] { [] }
    func renewIdentity(_ forks: [Fork]) throws {}
    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {}
    func close() {}
}
