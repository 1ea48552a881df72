import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// What a head complains about whose replica is not seen again.
@Suite struct ComplaintTests {
    /// Puts a head in the place of a member's, in the present epoch.
    private func write(_ head: FolderHead, of replica: TestReplica, in club: MemberStores) throws {
        let record = try #require(try replica.synchronizer.membership.record())
        let keys = try #require(record.device)
        var head = head
        head.prepare(for: keys.card.id)
        head.generation += 1
        try head.write(
            FolderPaths(club.id(replica)).file(FolderPaths.headName),
            club.transport(replica).writing(in: #require(record.state.currentEpoch)),
            store: record.state.store, by: keys, now: club.stores.clock.environment.milliseconds())
    }

    @Test func aBundleThatIsSoundIsReadOnce() throws {
        let stores = try TestStores()
        let place = TellingFolder(path: stores.path("shared"))
        let reads = CountingMailbox(place)
        let transport = MailboxTransport(
            mailbox: reads, passphrase: try Passphrase("folder"), cost: .minimum)
        let author = try stores.create()
        let other = try stores.clone(author, as: "b.db")
        func sync(_ replica: TestReplica) throws {
            stores.clock.advance(milliseconds: 10)
            _ = try replica.synchronizer.run(.both, transport)
        }
        try sync(other)
        try author.insert(1, "one")
        try sync(author)
        let own = FolderPaths(try author.replica())
        let bundle = try #require(
            try FolderHead.read(own.file(FolderPaths.headName), transport).bundles.last)
        let file = own.file(bundle.name)
        let complaining = try FolderPaths(other.replica()).file(FolderPaths.headName)
        func complain() throws {
            var head = try FolderHead.read(complaining, transport)
            head.unreadable = [file.description]
            head.generation += 1
            try head.write(
                complaining, transport, store: #require(head.store),
                now: stores.clock.environment.milliseconds())
        }
        func readCount() -> Int { reads.opened.withLock { $0.filter { $0 == file }.count } }
        let before = readCount()
        try complain()
        try sync(author)
        let once = readCount() - before
        #expect(once > 0)
        for _ in 0..<3 { try sync(author) }
        #expect(readCount() == before + once)
        // A newer head may know better, though not at once.
        try complain()
        for _ in 0..<2 { try sync(author) }
        #expect(readCount() == before + once)
        stores.clock.advance(milliseconds: 86_400_000)
        for _ in 0..<2 { try sync(author) }
        #expect(readCount() == before + 2 * once)
        // Another version is another file.
        place.changeVersion(of: file)
        for _ in 0..<2 { try sync(author) }
        #expect(readCount() == before + 3 * once)
        #expect(try stores.clone(author, as: "c.db").value(Self.settings, as: Int.self) == 0)
        #expect(try author.value(Self.settings, as: Int.self) == 1)
    }

    @Test func aBundleThatIsBrokenIsReadOnce() throws {
        let stores = try TestStores()
        let place = TellingFolder(path: stores.path("shared"))
        let reads = CountingMailbox(place)
        let transport = MailboxTransport(
            mailbox: reads, passphrase: try Passphrase("folder"), cost: .minimum)
        let author = try stores.create()
        let other = try stores.clone(author, as: "b.db")
        func sync(_ replica: TestReplica) throws -> FolderReport {
            stores.clock.advance(milliseconds: 10)
            return try replica.synchronizer.run(.both, transport)
        }
        _ = try sync(other)
        try author.insert(1, "one")
        _ = try sync(author)
        let own = FolderPaths(try author.replica())
        let bundle = try #require(
            try FolderHead.read(own.file(FolderPaths.headName), transport).bundles.last)
        let file = own.file(bundle.name)
        let url = URL(fileURLWithPath: stores.path("shared") + "/" + file.description)
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: url)
        place.changeVersion(of: file)
        func readCount() -> Int { reads.opened.withLock { $0.filter { $0 == file }.count } }
        // It is missed, complained about, and looked at because of that.
        for _ in 0..<2 { _ = try sync(other) }
        let before = readCount()
        for _ in 0..<3 {
            let report = try sync(other)
            #expect(report.remarks.contains { $0.contains(file.name) })
        }
        #expect(readCount() == before)
    }

    @Test func aBundleOfANewerProgramIsTakenInOnceThisOneKnowsItsVersion() throws {
        let stores = try TestStores()
        let place = TellingFolder(path: stores.path("shared"))
        let transport = MailboxTransport(
            mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        let author = try stores.create()
        let other = try stores.clone(author, as: "b.db")
        func sync(_ replica: TestReplica) throws -> FolderReport {
            stores.clock.advance(milliseconds: 10)
            return try replica.synchronizer.run(.both, transport)
        }
        _ = try sync(other)
        try author.insert(1, "one")
        _ = try sync(author)
        let own = FolderPaths(try author.replica())
        let head = try FolderHead.read(own.file(FolderPaths.headName), transport)
        let file = own.file(try #require(head.bundles.last).name)
        let url = URL(fileURLWithPath: stores.path("shared") + "/" + file.description)
        let known = try Data(contentsOf: url)
        var content = Data()
        let reader = try transport.open(file)
        while let piece = try reader.next() { content.append(piece) }
        // The version stands behind the first bytes of the header.
        let offset = Frame.prefixByteCount + 4
        try #require(UInt64(content[offset]) <= BundleHeader.version)
        content[offset] = UInt8(BundleHeader.version) + 1
        let newer = content
        let lock = transport.lock(try #require(head.store))
        let writer = try SealedFileWriter(path: url.path, kind: BundleFile.kind, lock: lock, now: Date())
        try newer.withUnsafeBytes { try writer.write($0) }
        try writer.finish(replacing: true)
        for _ in 0..<4 {
            let report = try sync(other)
            #expect(report.remarks.contains { $0.contains(file.name) && $0.contains("version") })
        }
        // To a newer program the same bytes would be as these are to this one.
        try known.write(to: url)
        _ = try sync(other)
        #expect(try other.titles() == ["one"])
    }

    /// What is wrong with a bundle of a member.
    enum Fault: CaseIterable, Sendable {
        case content, digest
    }

    @Test(arguments: Fault.allCases)
    func aBundleOfAMemberThatIsBrokenIsReadOnceAndToldEachTime(fault: Fault) throws {
        let club = try MemberStores()
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        try ben.insert(50, "of ben")
        try club.sync(ben, .push)
        var head = try club.head(ben)
        let bundle = try #require(head.bundles.last)
        let file = FolderPaths(try club.id(ben)).file(bundle.name)
        switch fault {
        case .content:
            let url = URL(fileURLWithPath: club.path(file.description))
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: url)
        case .digest:
            head.bundles[head.bundles.count - 1].sha256 = String(repeating: "0", count: 64)
            try write(head, of: ben, in: club)
        }
        let reads = CountingMailbox(TellingFolder(path: club.folder.path))
        let transport = MailboxTransport(
            mailbox: reads, passphrase: try Passphrase("folder"), cost: .minimum)
        func sync() throws -> FolderReport {
            club.stores.clock.advance(milliseconds: 10)
            return try carl.synchronizer.run(.both, transport)
        }
        func readCount() -> Int { reads.opened.withLock { $0.filter { $0 == file }.count } }
        // It is missed, complained about, and looked at because of that.
        var reports = [try sync(), try sync()]
        let before = readCount()
        for _ in 0..<3 { reports.append(try sync()) }
        #expect(readCount() == before)
        for report in reports {
            #expect(report.refused.map(\.reason) == (fault == .digest ? [.digestWrong] : []))
            #expect(report.remarks.contains { $0.contains(file.name) } == (fault == .content))
        }
        #expect(try carl.titles() == ["of anna"])
    }

    @Test func whatABundleIsHeldToIsWhatItsHeadSays() throws {
        let replica = try #require(Identifier128(hexadecimal: String(repeating: "1a", count: 16)))
        func claims(_ base: VersionVector, _ target: VersionVector, _ digest: String? = nil) -> [String] {
            FolderContents.Bundle(
                replica: replica, name: "b", number: 1, file: FolderPaths(replica).file("b"), path: "b",
                base: base, target: target, byteCount: 1, isListed: true, digest: digest
            ).claims
        }
        let (none, some) = (VersionVector(), FolderHead.decode([replica.description: 7]))
        try #require(none != some)
        let others = [claims(none, some), claims(some, none), claims(some, some), claims(none, some, "5a")]
        #expect(Set(others).count == 4)
        #expect(claims(none, some) == others[0])
    }

    private static let settings = "SELECT count(*) FROM _sync_setting WHERE name GLOB 'checked *'"

    @Test func statementsThatAreThereAreReadOnce() throws {
        let club = try MemberStores()
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        let state = try #require(try club.anna.synchronizer.membership.state())
        var head = try club.head(ben)
        head.tell(statements: [], lacking: state.heads.prefix(1).map(\.description))
        try write(head, of: ben, in: club)
        let reads = CountingMailbox(TellingFolder(path: club.folder.path))
        let transport = MailboxTransport(
            mailbox: reads, passphrase: try Passphrase("folder"), cost: .minimum)
        var counts: [Int] = []
        for _ in 0..<4 {
            club.stores.clock.advance(milliseconds: 10)
            _ = try club.anna.synchronizer.run(.both, transport)
            counts.append(reads.opened.withLock { $0.filter { StatementFile.isName($0.name) }.count })
        }
        #expect(counts[0] > 0 && counts.allSatisfy { $0 == counts[0] })
    }

    @Test func aReaderHasNobodyTellEverythingAgainAfterEachEdit() throws {
        let club = try MemberStores()
        let (carl, dora) = (try club.join("carl"), try club.join("dora", as: .reader))
        try club.settle(club.anna, carl, dora)
        var head = try club.head(dora)
        try carl.insert(50, "of carl")
        try club.sync(carl)
        let bundle = try #require(try club.head(carl).bundles.last)
        try #require(!bundle.base.isEmpty)
        head.untaken = ["\(try club.id(carl))/\(bundle.name)"]
        try write(head, of: dora, in: club)
        for replica in [carl, club.anna] { #expect(try club.sync(replica).pushed == nil) }
        // It may be right.
        club.stores.clock.advance(milliseconds: 3_600_000)
        #expect(try club.sync(carl).pushed != nil)
    }
}
