import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// Files of statements that were taken in, and that somebody else makes useless to those who come later.
@Suite struct OverwrittenStatementTests {
    let club: MemberStores
    let ben: TestReplica

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        let carl = try club.join("carl")
        try club.settle(club.anna, ben, carl)
    }

    /// Anna removes carl, and says so in a file, of which ben knows nothing yet.
    private func removeCarl() throws -> String {
        let before = Set(try club.files(".statements"))
        try club.remove("carl")
        try club.sync(club.anna)
        return try #require(try club.files(".statements").first { !before.contains($0) })
    }

    private func statements(_ replica: TestReplica) throws -> Set<StatementID> {
        Set(try #require(try replica.synchronizer.membership.state()).statements.keys)
    }

    @Test func whatAFileHeldThatIsTooLongNowIsWrittenAgain() throws {
        let file = try removeCarl()
        let handle = try #require(FileHandle(forWritingAtPath: club.path(file)))
        try handle.truncate(atOffset: UInt64(StatementFile.byteCountMax) + 1)
        try handle.close()
        let known = try statements(club.anna)
        try club.sync(club.anna)
        try club.sync(ben)
        #expect(try statements(ben).isSuperset(of: known))
    }

    @Test func whatAFileHeldThatNobodyMayReadNowIsWrittenAgain() throws {
        let file = try removeCarl()
        let known = try statements(club.anna)
        let place = RefusingFolder(folder: LocalFolder(path: club.folder.path), refused: file)
        let transport = MailboxTransport(
            mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        for replica in [ben, club.anna, ben] {
            club.stores.clock.advance(milliseconds: 10)
            _ = try replica.synchronizer.run(.both, transport)
        }
        #expect(try statements(ben).isSuperset(of: known))
        // It is not written again and again.
        let files = try club.files(".statements")
        for replica in [club.anna, ben, club.anna] {
            club.stores.clock.advance(milliseconds: 10)
            _ = try replica.synchronizer.run(.both, transport)
        }
        #expect(try club.files(".statements").count <= files.count + 1)
    }
}

/// A folder that does not give one of its files.
private struct RefusingFolder: Mailbox {
    let folder: LocalFolder
    /// The file, as a path in the folder.
    let refused: String

    var name: String { folder.name }
    var location: String { folder.location }
    func folders() throws -> [String] { try folder.folders() }
    func files(in name: String) throws -> [MailboxFile] { try folder.files(in: name) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        guard path.description != refused else { throw MailboxError(.notPermitted, "it is refused") }
        return try folder.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws { try folder.write(path, replacing: replacing, body) }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }
}
