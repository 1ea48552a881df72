import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Files that go on under one identity, with nothing but a folder between them.
@Suite struct FolderForkTests {
    let stores: TestStores
    let folder: FolderTransport

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    @discardableResult
    private func sync(_ replica: TestReplica, _ direction: SyncDirection = .both) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(direction, folder)
    }

    /// A file and a copy of it, which write the same number of changes at the same times, and another replica.
    private func duplicate() throws -> (a: TestReplica, copy: TestReplica, other: TestReplica) {
        let a = try stores.create()
        try a.insert(1, "one")
        let other = try stores.clone(a, as: "other.db")
        try a.meet(other)
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let copies = (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"))
        let now = a.environment.milliseconds()
        for (replica, number, title) in [(copies.0, UInt8(10), "of a"), (copies.1, 20, "of the copy")] {
            try replica.insert(number, title)
            try replica.execute("UPDATE note SET body = '\(title)' WHERE title = 'one'")
            try replica.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(now) WHERE op <> 0") }
        }
        return (copies.0, copies.1, other)
    }

    /// The order in which they come to the folder, again and again; 0 is the file, 1 its copy, 2 the other replica.
    ///
    /// - parameter isFolded: Whether what the two wrote has its numbers already.
    @Test(
        arguments: [[0, 1, 2], [0, 2, 1], [2, 0, 1], [0, 1, 2, 2], [0, 2, 1, 2], [2, 0, 2, 1]], [false, true])
    func aCopyOfAFileLosesNothingThroughAFolder(order: [Int], isFolded: Bool) throws {
        let (a, copy, other) = try duplicate()
        let all = [a, copy, other]
        if isFolded { for replica in all { _ = try replica.peer.greet() } }
        for _ in 0..<4 { for index in order { try sync(all[index]) } }
        #expect(try Set(all.map { try $0.replica() }).count == 3)
        #expect(try a.titles() == ["one", "of a", "of the copy"])
        try expectEqual(all)
        // Nobody complains for ever.
        for replica in all { #expect(try sync(replica).remarks.isEmpty) }
    }

    /// Somebody knows what the file wrote, and finds what its copy wrote in the folder.
    @Test func aBundleOfAFileThatHasToGiveWayKeepsNobodyFromTheFolder() throws {
        let (a, copy, other) = try duplicate()
        try a.meet(other)
        try copy.insert(21, "more of the copy")
        try sync(copy)
        try other.insert(30, "of the other")
        let report = try sync(other)
        #expect(report.remarks.contains { $0.contains("gets a new identity") })
        #expect(report.pushed != nil)
        // What the other one tells shows the copy that it is one. It takes what it wrote before out of the folder.
        let former = try copy.replica()
        #expect(try sync(copy).renewedReplica == former)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/\(former)")
        #expect(files.isEmpty)
        for _ in 0..<2 { for replica in [other, a, copy] { try sync(replica) } }
        #expect(try a.titles() == ["one", "of a", "of the copy", "more of the copy", "of the other"])
        try expectEqual([a, copy, other])
        for replica in [other, a, copy] { #expect(try sync(replica).remarks.isEmpty) }
    }

    /// A copy has made as many changes as its original, or more. The original never comes to the folder, and who knows its
    /// changes has none of its own, so that nothing there is new by its number.
    @Test(arguments: [0, 1])
    func aCopyFindsItsOriginalInWhatAnotherReplicaKnows(more: Int) throws {
        let (a, copy, other) = try duplicate()
        try a.meet(other)
        for _ in 0..<more { try copy.insert(21, "more of the copy") }
        try sync(other)
        let former = try copy.replica()
        #expect(try sync(copy).renewedReplica == former)
        #expect(try copy.replica() != former)
        for _ in 0..<2 { for replica in [other, a, copy] { try sync(replica) } }
        let titles = ["one", "of a", "of the copy"] + Array(repeating: "more of the copy", count: more)
        #expect(try a.titles() == titles)
        for replica in [other, a, copy] { #expect(try sync(replica).remarks.isEmpty) }
        #expect(try a.replica() == former)
        try expectEqual([a, copy, other])
    }

    /// What a replica says of itself in the folder.
    private func head(of replica: TestReplica) throws -> FolderHead {
        try FolderHead.read(FolderPaths(replica.replica()).file(FolderPaths.headName), folder.transport)
    }

    /// A bundle from before a file was copied says the same to both, and is not one of those that nobody can build on.
    @Test func aBundleFromBeforeTheCopyIsTakenByAll() throws {
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try a.insert(1, "one")
        try sync(a)
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let (first, copy) = (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"))
        try copy.insert(20, "of the copy")
        try copy.meet(other)
        try first.insert(10, "of a")
        try first.insert(11, "more of a")
        try sync(first)
        let identity = try first.replica()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/\(identity)")
        let bundles = files.filter { $0.hasSuffix(".bundle") }.sorted()
        try #require(bundles.count == 2)
        try other.insert(30, "of the other")
        try sync(other)
        #expect(try head(of: other).untaken == ["\(identity)/\(bundles[1])"])
        // What it writes builds on the other one.
        #expect(try head(of: other).bundles.last?.base["\(identity)"] == 1)
    }

    /// Two replicas know one number of a third one, which means something else to each, and both tell it. The one with the
    /// smaller hash reads what the other one tells.
    @Test func ofTwoThatTellANumberTheOneWithTheSmallerHashReads() throws {
        let (a, copy, other) = try duplicate()
        let last = try stores.clone(other, as: "last.db")
        try copy.meet(other)
        try a.meet(last)
        let identity = try a.replica()
        for (number, replica) in [(UInt8(30), other), (40, last)] {
            try replica.insert(number, "of \(replica.name)")
            try sync(replica, .push)
        }
        func suspected(by replica: TestReplica) throws -> Set<String> {
            var session = FolderSession(
                folder: folder.transport, peer: replica.peer, environment: replica.environment, progress: nil)
            try session.compareChains(
                FolderContents(folder.transport, store: replica.peer.store()), replica.peer.greet())
            return session.suspected
        }
        func hash(_ replica: TestReplica) throws -> Identifier128 {
            try #require(try replica.peer.greet().facts.chains[identity]?.first?.hash)
        }
        let isOther = try hash(other) < hash(last)
        let (smaller, greater) = isOther ? (other, last) : (last, other)
        let told = try "\(greater.replica())/"
        #expect(try suspected(by: smaller).allSatisfy { $0.hasPrefix(told) })
        #expect(try suspected(by: smaller).count == 1)
        #expect(try suspected(by: greater).isEmpty)
    }

    /// Another process of the file learns more of a replica while a bundle is written. The hash that was known before would look like
    /// that of another file.
    @Test func aHeadTellsNoHashForAnotherNumberThanItsOwn() throws {
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try other.insert(1, "one")
        try a.meet(other)
        let process = try stores.open("a.db")
        let identity = try other.replica()
        let before = try a.vector()[identity]
        let place = InterruptedFolder(folder: LocalFolder(path: folder.path))
        place.interruption = {
            try other.insert(2, "two")
            try process.meet(other)
        }
        try a.insert(10, "of a")
        _ = try a.synchronizer.run(
            .both, MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum))
        let after = try a.vector()[identity]
        try #require(place.interruption == nil && after > before)
        let said = try head(of: a)
        #expect(said.vector["\(identity)"] == after)
        #expect(said.lastPoint(of: identity)?.sequence == nil)
        // The next one has looked at that number.
        try sync(a)
        var told: [ReplicaID: (sequence: Int64, hash: Identifier128)] = [:]
        let own = try a.replica()
        told[own] = try head(of: a).lastPoint(of: identity)
        #expect(told[own]?.sequence == after)
        #expect(try other.peer.foreign(told).isEmpty)
    }

    /// A program from before the chains were told wrote the head, so that nothing but the numbers shows that the file was put
    /// back, and nothing shows what it has in common with what is in the folder.
    @Test func aFileFromBeforeItsFirstChangeTellsAllThatItWritesUnderAnotherIdentity() throws {
        let a = try stores.create()
        let other = try stores.clone(a, as: "other.db")
        try a.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let (first, copy) = (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"))
        for number in 10...12 as ClosedRange<UInt8> { try first.insert(number, "row \(number)") }
        try sync(first)
        let place = try FolderPaths(first.replica()).file(FolderPaths.headName)
        let head = try JSONEncoder().encode(FolderHead.read(place, folder.transport))
        var members = try #require(try JSONSerialization.jsonObject(with: head) as? [String: Any])
        #expect(members.removeValue(forKey: "chain") != nil)
        var former = try JSONDecoder().decode(
            FolderHead.self, from: JSONSerialization.data(withJSONObject: members))
        try former.write(
            place, folder.transport, store: #require(former.store),
            now: stores.clock.environment.milliseconds())
        try copy.insert(20, "row 20")
        #expect(try sync(copy).renewedReplica == first.replica())
        let sql = """
            SELECT p.rid FROM note AS n JOIN _sync_row AS r ON r.pk = n.id JOIN _sync_replica AS p ON p.sid = r.sid
            WHERE n.title = 'row 20'
            """
        #expect(try copy.value(sql, as: Data.self) == copy.replica().data)
        for replica in [other, first] { try sync(replica) }
        #expect(try other.titles() == ["row 10", "row 11", "row 12", "row 20"])
        try expectEqual([first, copy, other])
    }

    // MARK: Files that are gone

    /// A file puts what it wrote into the folder, and is gone. A copy of it has written under the same numbers, which another
    /// replica knows, and is gone, too. What all of them wrote comes to everybody, who then have nothing to say.
    @Test(arguments: [0, 1, 2], [0, 1, 2])
    func twoFilesThatAreGoneLeaveNobodyWithoutTheirChanges(here: Int, there: Int) throws {
        let original = try stores.create()
        try original.insert(1, "one")
        let (knowing, fresh) = (
            try stores.clone(original, as: "knowing.db"), try stores.clone(original, as: "fresh.db")
        )
        try original.meet(knowing)
        try original.queue.close()
        try stores.copy("a.db", to: "copy.db")
        let (a, copy) = (try stores.open("a.db"), try stores.open("copy.db", copyOf: "a.db"))
        let now = a.environment.milliseconds()
        for (replica, first, count) in [(a, UInt8(10), 1 + here), (copy, 20, 1 + there)] {
            for number in 0..<count {
                try replica.insert(first + UInt8(number), "row \(Int(first) + number)")
            }
            try replica.queue.write { try $0.execute(sql: "UPDATE _sync_log SET ms = \(now) WHERE op <> 0") }
        }
        try sync(a)
        try copy.meet(knowing)
        var reports: [FolderReport] = []
        for _ in 0..<5 { reports = try [knowing, fresh].map { try sync($0) } }
        #expect(try knowing.dump() == fresh.dump())
        let titles = try fresh.titles()
        // What only the folder has, and builds on numbers that mean something else to all, comes when it can be read.
        #expect(titles.contains("row 20") && (titles.contains("row 10") || here > 0))
        for report in reports {
            #expect(report.pulled == nil && report.pushed == nil && report.renewedReplica == nil)
        }
    }

    @Test func aReplicaThatWasRetiredTooEarlyKeepsNobodyFromTheFolder() throws {
        let first = try stores.create()
        let (away, other) = (try stores.clone(first, as: "away.db"), try stores.clone(first, as: "other.db"))
        for replica in [first, away, other] { try sync(replica) }
        for replica in [first, away, other] { try sync(replica) }
        try first.synchronizer.retire(away.synchronizer.status().replica)
        try first.insert(1, "of first")
        try first.meet(other)
        try away.insert(2, "of away")
        try sync(away, .push)
        try other.insert(3, "of other")
        for replica in [first, other, first] {
            #expect(try sync(replica).remarks.contains { $0.contains("was retired here") })
        }
        #expect(try first.titles() == ["of first", "of other"])
        let error = #expect(throws: SyncError.self) { try sync(away) }
        #expect(error?.code == .retiredReplica)
        try away.synchronizer.renewIdentity()
        for _ in 0..<2 { for replica in [away, first, other] { try sync(replica) } }
        #expect(try first.titles().sorted() == ["of away", "of first", "of other"])
        #expect(try first.dump() == other.dump() && first.dump() == away.dump())
    }
}
