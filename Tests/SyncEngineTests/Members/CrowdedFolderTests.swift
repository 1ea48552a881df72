import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Folders in which others leave so many files, or such, that those of members could be overlooked.
@Suite struct CrowdedFolderTests {
    let club: MemberStores

    init() throws { club = try MemberStores() }

    private func state(_ replica: TestReplica) throws -> MembershipState {
        try #require(try replica.synchronizer.membership.state())
    }

    /// Leaves files that look like such of statements, in a folder that comes before all others.
    private func leave(_ count: Int, _ make: (_ path: String, _ number: Int) throws -> Void) throws {
        let folder = club.path(Identifier128(high: 0, low: 0).description)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            try make(folder + "/" + StatementFile.name(Identifier128(high: 7, low: UInt64(number))), number)
        }
    }

    private func transport(_ mailbox: any Mailbox) throws -> MailboxTransport {
        MailboxTransport(mailbox: mailbox, passphrase: try Passphrase("folder"), cost: .minimum)
    }

    @Test func aNewcomerFindsItsInvitationBehindManyFiles() throws {
        try leave(300) { path, _ in try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path)) }
        let ben = try club.join("ben")
        try ben.insert(2, "of ben")
        try club.settle(ben, club.anna)
        #expect(try club.anna.titles() == ["of anna", "of ben"])
    }

    @Test func aNewcomerFindsStatementsThatRestUponThoseOfOtherFiles() throws {
        let names = (0..<6).map { "guest \($0)" }
        for name in names {
            _ = try club.anna.synchronizer.membership.invite(MemberName(name), as: .reader)
        }
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        // Each statement in a file of its own, in whatever order, and many others between.
        let known = try state(club.anna)
        for file in try club.files(".statements") {
            try FileManager.default.removeItem(atPath: club.path(file))
        }
        let statements = known.statements.values.sorted { $0.id < $1.id }
        let lock = club.folder.transport.lock(known.store)
        try leave(290 + statements.count) { path, number in
            guard number % 10 == 0, number / 10 < statements.count else {
                return try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
            }
            let file = try SealedFileWriter(path: path, kind: StatementFile.kind, lock: lock, now: Date())
            let bytes = statements[number / 10].bytes
            let length = withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) }
            try (length + bytes).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
        let ben = try club.stranger("ben")
        try ben.synchronizer.membership.accept(invitation, through: club.folder.transport)
        #expect(try ben.synchronizer.membership.record()?.role == .writer)
    }

    @Test func filesThatAreTooLongKeepNobodyFromTheOthers() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        try leave(260) { path, _ in
            let isMade = FileManager.default.createFile(atPath: path, contents: nil)
            let file = try #require(isMade ? FileHandle(forWritingAtPath: path) : nil)
            try file.truncate(atOffset: UInt64(StatementFile.byteCountMax) + 1)
            try file.close()
        }
        try club.remove("ben")
        try club.sync(club.anna)
        let report = try club.sync(ben)
        #expect(report.unsent?.reason == .removed)
        #expect(report.remarks.count { $0.contains("longer") } == 16)
        _ = try club.join("carl")
    }

    /// Files under other salts could use up what is derived for files of strangers.
    @Test func filesOfOtherDatabasesCostNoDerivation() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        try leave(9) { path, number in
            let shared = SharedPassphrase(try Passphrase("folder"), cost: .minimum)
            let lock = ArchiveLock(shared, salt: SharedPassphrase.exactSalt(of: [UInt8(number), 99]))
            let file = try SealedFileWriter(path: path, kind: StatementFile.kind, lock: lock, now: Date())
            try [UInt8](repeating: 0, count: 4).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        try club.sync(club.anna)
        let report = try ben.synchronizer.run(.pull, transport(LocalFolder(path: club.folder.path)))
        #expect(report.remarks.count { $0.contains("belongs to another database") } == 9, "\(report.remarks)")
        #expect(try state(ben) == state(club.anna))
    }

    /// A newcomer has no store yet that would say which files are meant: the invitation does.
    @Test func aNewcomerBeginsFromASnapshotAmongFilesUnderOtherSalts() throws {
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        try club.sync(club.anna)
        try leave(9) { path, number in
            let shared = SharedPassphrase(try Passphrase("folder"), cost: .minimum)
            let lock = ArchiveLock(shared, salt: SharedPassphrase.exactSalt(of: [UInt8(number), 98]))
            let file = try SealedFileWriter(path: path, kind: StatementFile.kind, lock: lock, now: Date())
            try [UInt8](repeating: 0, count: 4).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
        // Another transport, which has derived nothing yet.
        try Synchronizer.join(
            transport(LocalFolder(path: club.folder.path)), at: club.stores.path("ben.db"),
            passphrase: Passphrase("passphrase of ben.db"), invitation: invitation,
            environment: club.stores.clock.environment)
        let ben = try club.stores.open("ben.db")
        #expect(try ben.synchronizer.membership.record()?.role == .writer)
    }

    @Test func anInvitationForAnotherDatabaseIsSaidToBeOne() throws {
        let other = try MemberStores(seed: 9)
        let invitation = try club.anna.synchronizer.membership.invite(MemberName("ben"), as: .writer)
        let stranger = try other.stranger("stranger")
        let error = #expect(throws: SyncError.self) {
            try stranger.synchronizer.membership.accept(invitation, through: other.folder.transport)
        }
        #expect(error?.code == .otherStore)
    }

    // MARK: What passes

    @Test func aFileThatCannotBeReadNowIsReadTheNextTime() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        try club.sync(club.anna)
        let mailbox = UnreadableStatements(LocalFolder(path: club.folder.path))
        let report = try ben.synchronizer.run(.pull, transport(mailbox))
        #expect(report.remarks.contains { $0.contains("not now") })
        #expect(try state(ben) != state(club.anna))
        try club.sync(ben, .pull)
        #expect(try state(ben) == state(club.anna))
    }

    @Test func aFileThatWasDamagedIsReadAgainAfterAnHour() throws {
        let ben = try club.join("ben")
        try club.settle(club.anna, ben)
        let before = Set(try club.files(".statements"))
        _ = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .writer)
        try club.sync(club.anna)
        let file = try #require(try club.files(".statements").first { !before.contains($0) })
        let url = URL(fileURLWithPath: club.path(file))
        let content = try Data(contentsOf: url)
        try Data(repeating: 0, count: content.count).write(to: url)
        #expect(try club.sync(ben, .pull).remarks.contains { $0.contains(file) })
        try content.write(to: url)
        // It costs nothing meanwhile.
        try club.sync(ben, .pull)
        #expect(try state(ben) != state(club.anna))
        club.stores.clock.advance(milliseconds: 3_600_000)
        try club.sync(ben, .pull)
        #expect(try state(ben) == state(club.anna))
    }

    // MARK: What was there

    /// Puts a file of the same size in the place of another one.
    private func overwrite(_ path: String, isSealed: Bool) throws {
        let url = URL(fileURLWithPath: path)
        let byteCount = try Data(contentsOf: url).count
        guard isSealed else { return try Data(repeating: 0, count: byteCount).write(to: url) }
        try FileManager.default.removeItem(at: url)
        let lock = try club.folder.transport.lock(state(club.anna).store)
        let file = try SealedFileWriter(path: path, kind: StatementFile.kind, lock: lock, now: Date())
        // The head of the file and the tag of its only chunk, and the length of what is no statement.
        let rest = [UInt8](repeating: 0, count: byteCount - 164 - 16 - 4)
        let length = withUnsafeBytes(of: UInt32(rest.count).littleEndian) { Array($0) }
        try (length + rest).withUnsafeBytes { try file.write($0) }
        try file.finish()
        try #require(try Data(contentsOf: url).count == byteCount)
    }

    @Test(arguments: [false, true])
    func aRemovalThatAnotherFileTookThePlaceOfIsWrittenAgain(isSealed: Bool) throws {
        let (ben, carl) = (try club.join("ben"), try club.join("carl"))
        try club.settle(club.anna, ben, carl)
        let before = Set(try club.files(".statements"))
        try club.remove("ben")
        try club.sync(club.anna)
        let file = try #require(try club.files(".statements").first { !before.contains($0) })
        try overwrite(club.path(file), isSealed: isSealed)
        // Anna takes it for what it was. Carl has not read it, and can't open what anna writes.
        for replica in [club.anna, carl] { try club.sync(replica) }
        #expect(try state(carl) != state(club.anna))
        #expect(try !club.head(carl).lackedNames.isEmpty)
        try club.settle(club.anna, carl)
        #expect(try state(carl) == state(club.anna))
        #expect(try state(carl).members.values.contains { $0.name.text == "ben" && $0.role == nil })
        // Then everybody is content.
        #expect(try club.head(carl).lackedNames.isEmpty)
        let after = try club.files(".statements")
        try club.settle(club.anna, carl)
        #expect(try club.files(".statements") == after)
    }

    /// A newcomer can tell nobody what it misses.
    @Test func aNewInvitationHelpsWhereFilesWereOverwritten() throws {
        for file in try club.files(".statements") { try overwrite(club.path(file), isSealed: true) }
        let ben = try club.join("ben")
        #expect(try ben.synchronizer.membership.record()?.role == .writer)
    }
}

/// A mailbox whose statements can't be read now.
private struct UnreadableStatements: Mailbox {
    private let mailbox: any Mailbox

    init(_ mailbox: any Mailbox) { self.mailbox = mailbox }

    var name: String { mailbox.name }
    var location: String { mailbox.location }
    func folders() throws -> [String] { try mailbox.folders() }
    func files(in folder: String) throws -> [MailboxFile] { try mailbox.files(in: folder) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        guard !StatementFile.isName(path.name) else { throw MailboxError(.failed, "not now") }
        return try mailbox.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws { try mailbox.write(path, replacing: replacing, body) }

    func remove(_ path: MailboxPath) throws { try mailbox.remove(path) }
}
