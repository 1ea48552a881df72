import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Files of statements that others leave in a folder.
@Suite struct StatementFileTests {
    let club: MemberStores
    let ben: TestReplica

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        try club.settle(club.anna, ben)
    }

    private func state(_ replica: TestReplica) throws -> MembershipState {
        try #require(try replica.synchronizer.membership.state())
    }

    /// Seals a file under the passphrase of the folder, as anybody can who has it.
    @discardableResult
    private func leave(
        _ number: UInt64, kind: SealedFileKind = StatementFile.kind, _ body: (SealedFileWriter) throws -> Void
    ) throws -> String {
        let file = "\(try club.id(ben))/\(StatementFile.name(Identifier128(high: 7, low: number)))"
        let writer = try SealedFileWriter(
            path: club.path(file), kind: kind, lock: club.folder.transport.lock(state(ben).store), now: Date()
        )
        try body(writer)
        try writer.finish()
        return file
    }

    private func write(_ bytes: [UInt8], _ writer: SealedFileWriter) throws {
        try bytes.withUnsafeBytes { try writer.write($0) }
    }

    private func framed(_ statement: SignedStatement) -> [UInt8] {
        withUnsafeBytes(of: UInt32(statement.bytes.count).littleEndian) { Array($0) } + statement.bytes
    }

    /// What nobody has invited says.
    private func strange(_ count: Int) throws -> [SignedStatement] {
        let (state, keys) = (try state(club.anna), try MemberDeviceKeys())
        return try (0..<count).map { number in
            try SignedStatement(
                SyncMembers.Statement(
                    store: state.store, issuer: .device(keys.card), parents: state.heads,
                    kind: .bindReplica(Identifier128(high: 9, low: UInt64(number)))), by: keys)
        }
    }

    private func expectHealthy() throws {
        try ben.insert(60, "goes on")
        try club.settle(ben, club.anna)
        #expect(try club.anna.titles() == ["of anna", "goes on"])
    }

    @Test func filesThatHoldNoStatementsAreSaid() throws {
        let before = try state(club.anna)
        let files = [
            try leave(1) { try write([1, 2, 3], $0) },
            try leave(2) { try write([0xFF, 0xFF, 0xFF, 0x7F, 1], $0) },
            try leave(3) { try write([4, 0, 0, 0, 1, 2, 3, 4], $0) },
            try leave(4, kind: FolderHead.kind) { try write([1], $0) },
        ]
        try Data([1, 2, 3]).write(
            to: URL(
                fileURLWithPath: club.path(
                    "\(try club.id(ben))/\(StatementFile.name(Identifier128(high: 8, low: 1)))")))
        let report = try club.sync(club.anna)
        for file in files {
            #expect(report.remarks.contains { $0.contains(file) }, "\(file): \(report.remarks)")
        }
        #expect(try state(club.anna) == before)
        // They are not read again for nothing.
        #expect(try club.sync(club.anna).remarks.isEmpty)
        try expectHealthy()
    }

    @Test func thousandsOfStatementsOfStrangersTakeNoRoom() throws {
        let before = try state(club.anna)
        let statements = try strange(6_000)
        let file = try leave(1) { writer in
            for statement in statements { try write(framed(statement), writer) }
        }
        try club.sync(club.anna)
        #expect(try state(club.anna) == before)
        let entry = try club.anna.queue.read {
            try StatementFiles.load($0, mailbox: club.folder.transport.name)[file]
        }
        #expect(entry?.held == [])
        try expectHealthy()
    }

    @Test func aFileOfMoreStatementsThanThereMayBeIsRefused() throws {
        let statement = try #require(try strange(1).first)
        // Those that can't be read count, too.
        let file = try leave(1) { writer in
            try write(framed(statement), writer)
            try write([UInt8](repeating: 0, count: 4 * 10_000), writer)
        }
        let report = try club.sync(club.anna)
        #expect(report.remarks.contains { $0.contains(file) && $0.contains("too many") })
        try expectHealthy()
    }

    @Test func aFileThatIsTooLongIsNotOpened() throws {
        let file = "\(try club.id(ben))/\(StatementFile.name(Identifier128(high: 8, low: 2)))"
        let handle = try #require(
            FileManager.default.createFile(atPath: club.path(file), contents: nil)
                ? FileHandle(forWritingAtPath: club.path(file)) : nil)
        try handle.truncate(atOffset: UInt64(StatementFile.byteCountMax) + 1)
        try handle.close()
        let report = try club.sync(club.anna)
        #expect(report.remarks.contains { $0.contains(file) && $0.contains("longer") })
    }

    @Test func whatWaitsForOthersIsTakenInWhenTheyCome() throws {
        let before = Set(try club.files(".statements"))
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        try club.sync(club.anna)
        let late = try #require(try club.files(".statements").first { !before.contains($0) })
        try FileManager.default.moveItem(atPath: club.path(late), toPath: club.stores.path("late"))
        // Anna would write again what is missing, so only the later statements are written here.
        let first = try state(club.anna)
        _ = try club.anna.synchronizer.membership.invite(MemberName("dora"), as: .writer)
        let known = try state(club.anna)
        let fresh = known.statements.values.filter { first.statements[$0.id] == nil }
        #expect(fresh.count == 2)
        try leave(1) { writer in for statement in fresh { try write(framed(statement), writer) } }
        try club.sync(ben, .pull)
        #expect(try state(ben).members.count == 2)
        try FileManager.default.moveItem(atPath: club.stores.path("late"), toPath: club.path(late))
        try club.sync(ben, .pull)
        #expect(try state(ben) == known)
    }

    @Test func whatAMemberRestsUponAStrangersStatementIsLeftOut() throws {
        let before = try state(club.anna)
        let keys = try #require(try ben.synchronizer.membership.record()?.device)
        let stranger = try #require(try strange(1).first)
        let child = try SignedStatement(
            SyncMembers.Statement(
                store: before.store, issuer: .device(keys.card), parents: [stranger.id],
                kind: .bindReplica(Identifier128(high: 9, low: 99))), by: keys)
        try leave(1) { writer in for statement in [child, stranger] { try write(framed(statement), writer) } }
        try club.sync(club.anna)
        #expect(try state(club.anna) == before)
        try expectHealthy()
    }

    @Test func whatARemovedMemberSaysThoughItKnowsOfItTakesNoRoom() throws {
        let keys = try #require(try ben.synchronizer.membership.record()?.device)
        try club.remove("ben")
        try club.sync(club.anna)
        let before = try state(club.anna)
        let statements = try (0..<100).map { number in
            try SignedStatement(
                SyncMembers.Statement(
                    store: before.store, issuer: .device(keys.card), parents: before.heads,
                    kind: .bindReplica(Identifier128(high: 9, low: UInt64(number)))), by: keys)
        }
        let file = try leave(1) { writer in
            for statement in statements { try write(framed(statement), writer) }
        }
        try club.sync(club.anna)
        #expect(try state(club.anna) == before)
        // They never count, so nothing of the file waits.
        let entry = try club.anna.queue.read {
            try StatementFiles.load($0, mailbox: club.folder.transport.name)[file]
        }
        #expect(entry?.waits == false && entry?.held == [])
    }

    @Test func whatIsKnownIsNotReadAgain() throws {
        try club.settle(club.anna, ben)
        let reads = CountingMailbox(LocalFolder(path: club.folder.path))
        let transport = MailboxTransport(
            mailbox: reads, passphrase: try Passphrase("folder"), cost: .minimum)
        _ = try ben.synchronizer.run(.both, transport)
        #expect(reads.opened.withLock { $0.filter { StatementFile.isName($0.name) } } == [])
        #expect(reads.opened.withLock { $0.count } == 2)
    }

    @Test func thatAFileWasOpenedIsKeptThoughNothingInItCounts() throws {
        let name = try #require(try state(club.anna).heads.first)
        let entries = [(true, 5), (true, 0), (false, 5)].enumerated().map { number, kept in
            StatementFiles.Entry(
                path: "\(number)", byteCount: 9, triedMilliseconds: Int64(kept.1), held: [], isOpened: kept.0)
        }
        let full = StatementFiles.Entry(
            path: "3", byteCount: 9, triedMilliseconds: 0, held: [name], isOpened: true)
        try club.anna.queue.write { db throws in
            for entry in entries + [full] { try StatementFiles.note(db, mailbox: "place", entry) }
        }
        func kept() throws -> [StatementFiles.Entry] {
            try club.anna.queue.read { try StatementFiles.load($0, mailbox: "place") }.values.sorted {
                $0.path < $1.path
            }
        }
        #expect(try kept() == entries + [full])
        // As an older program leaves them.
        try club.anna.execute("UPDATE _sync_statement_file SET held = x'' WHERE path IN ('0', '1', '2')")
        #expect(try kept().map(\.isOpened) == [false, false, false, true])
        #expect(try kept().map(\.held) == [[], [], [], [name]])
    }

    @Test func aFileInThePlaceOfOthersHasWhatTheyHeldAndNotWhatIsElsewhere() throws {
        let carl = try club.join("carl")
        try club.settle(club.anna, ben, carl)
        let paths = FolderPaths(try club.id(club.anna))
        func own() throws -> [MailboxPath] {
            try club.files(".statements").filter { $0.hasPrefix(paths.folder) }
                .map { paths.file(String($0.dropFirst(paths.folder.count + 1))) }
        }
        func names(_ file: MailboxPath) throws -> Set<StatementID> {
            let transport = club.folder.transport
            let content = try StatementFile.read(
                transport.place.open(file), path: file.name, opening: transport.secret)
            return Set(content.statements.map(\.id))
        }
        let member = try club.member("ben").id
        var held: Set<StatementID> = []
        for turn in 0..<12 {
            held.formUnion(try own().flatMap(names))
            let count = try own().count
            try club.anna.synchronizer.membership.setRole(turn % 2 == 0 ? .reader : .writer, of: member)
            try club.sync(club.anna)
            if try own().count <= count { break }
        }
        #expect(try own().count == 1)
        let folded = try names(#require(own().first))
        #expect(folded.isSuperset(of: held))
        let known = try state(club.anna)
        let device = try #require(try carl.synchronizer.membership.record()?.device).card.id
        let ofCarl = known.statements.values.filter { $0.statement.issuer.card.id == device }.map(\.id)
        #expect(!ofCarl.isEmpty && folded.isDisjoint(with: ofCarl))
        let dora = try club.join("dora")
        #expect(try state(dora).statements.keys.count > known.statements.keys.count)
    }

    @Test func statementsThatTheFolderHasLostAreWrittenAgain() throws {
        for file in try club.files(".statements") {
            try FileManager.default.removeItem(atPath: club.path(file))
        }
        try club.sync(ben)
        let carl = try club.join("carl")
        #expect(try carl.titles() == ["of anna"])
    }
}
