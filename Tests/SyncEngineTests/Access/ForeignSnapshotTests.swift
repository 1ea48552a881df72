import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// Files that another member has written, from which somebody begins: whatever is in them.
@Suite struct ForeignSnapshotTests {
    let club: MemberStores
    /// A plain writer, whose files they are.
    let ben: TestReplica
    /// For one who begins.
    let invitation: MembershipInvitation

    init() throws {
        club = try MemberStores()
        ben = try club.join("ben")
        invitation = try club.anna.synchronizer.membership.invite(MemberName("carl"), as: .admin)
        try club.settle(club.anna, ben)
    }

    private func join() throws -> TestReplica {
        try Synchronizer.join(
            club.folder.transport, at: club.stores.path("carl.db"),
            passphrase: Passphrase("passphrase of carl.db"), invitation: invitation,
            environment: club.stores.clock.environment)
        return try club.stores.open("carl.db")
    }

    // MARK: Statements

    /// Puts into ben's store that anna has made ben an admin, which she has not signed, and spoils the signature of what was
    /// said last.
    private func forgeStatements() throws {
        let anna = try #require(try club.anna.synchronizer.membership.record())
        let device = try #require(anna.device)
        let change = RoleChange(member: try club.member("ben").id, role: .admin, cutOffs: [:])
        let statement = try anna.state.statement(.setRole(change), by: device)
        let last = try #require(
            try ben.value("SELECT content FROM _sync_statement ORDER BY id DESC LIMIT 1", as: Data.self))
        try ben.queue.write { db throws in
            try db.execute(
                sql: "UPDATE _sync_statement SET content = ? WHERE content = ?",
                arguments: [Data(Self.spoiled(Array(last))), last])
            try db.execute(
                sql: "INSERT INTO _sync_statement (name, content, at) VALUES (?, ?, 0)",
                arguments: [Data(statement.id.bytes), Data(Self.spoiled(statement.bytes))])
        }
        #expect(try ben.synchronizer.membership.role() == .admin)
    }

    /// A statement with another signature than that of its issuer.
    private static func spoiled(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.dropLast()) + [(bytes.last ?? 0) ^ 1]
    }

    /// Whether each statement that a store keeps is by the one that it names.
    private func keepsSignedStatementsOnly(_ replica: TestReplica) throws -> Bool {
        let record = try #require(try replica.synchronizer.membership.record())
        return record.state.statements.values.allSatisfy {
            (try? SignedStatement(bytes: $0.bytes)) != nil
        }
    }

    private func roleOfBen(in replica: TestReplica) throws -> MemberRole? {
        let state = try #require(try replica.synchronizer.membership.state())
        return state.members.values.first { $0.name.text == "ben" }?.role
    }

    @Test func nobodyBelievesStatementsOfASnapshotThatTheirIssuersHaveNotSigned() throws {
        try forgeStatements()
        try ben.synchronizer.publishSnapshot(in: club.folder)
        let carl = try join()
        #expect(try roleOfBen(in: carl) == .writer)
        #expect(try keepsSignedStatementsOnly(carl))
        #expect(try carl.synchronizer.membership.role() == .admin)
        // What it says itself rests upon nothing that others lack.
        try club.settle(carl, club.anna)
        #expect(try club.member("carl").role == .admin)
        #expect(try club.anna.synchronizer.membership.state() == carl.synchronizer.membership.state())
    }

    @Test func aCopyKeepsNoStatementsThatTheirIssuersHaveNotSigned() throws {
        try forgeStatements()
        let copy = try club.stores.clone(ben, as: "copy.db")
        #expect(try roleOfBen(in: copy) == .writer)
        #expect(try keepsSignedStatementsOnly(copy))
    }

    // MARK: What is no replica of the database

    /// Puts an archive of another file in the place of ben's snapshot, and has ben list it.
    ///
    /// - parameter isDigestRight: Whether ben signs the digest of that file, and not of the snapshot that he has written.
    private func replaceSnapshot(by queue: DatabaseQueue, isDigestRight: Bool) throws {
        try ben.synchronizer.publishSnapshot(in: club.folder)
        let record = try #require(try ben.synchronizer.membership.record())
        let device = try #require(record.device)
        let folder = try club.transport(ben).writing(in: #require(record.state.currentEpoch))
        let file = club.path(try #require(try club.files(".csa").first))
        try FileManager.default.removeItem(atPath: file)
        let lock = folder.lock(record.state.store)
        try queue.writeWithoutTransaction { db in try StoreArchive.write(of: db, to: file, lock: lock) }
        var digest = FileDigest()
        digest.update(try Data(contentsOf: URL(fileURLWithPath: file)))
        var head = try club.head(ben)
        let former = try #require(head.snapshot)
        head.snapshot = FolderHead.File(
            name: former.name, base: [:], target: former.target,
            byteCount: try #require(FolderPaths.byteCount(file)),
            sha256: isDigestRight ? digest.text : former.sha256)
        head.prepare(for: device.card.id)
        try head.write(
            FolderPaths(club.id(ben)).file(FolderPaths.headName), folder, store: record.state.store,
            by: device, now: club.stores.clock.environment.milliseconds())
    }

    /// A database without sync metadata.
    private func plainDatabase() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(
            path: club.stores.path("plain.db"), configuration: TestStores.configuration("plain.db"))
        try queue.write { try $0.execute(sql: TestStores.schema) }
        return queue
    }

    private func expectRefusal(_ words: String) throws {
        let error = #expect(throws: StoreError.self) { try join() }
        #expect(error?.code == .archiveDamaged && error?.message.contains(words) == true, "\(error as Any)")
        #expect(!FileManager.default.fileExists(atPath: club.stores.path("carl.db")))
        // What was refused has not used the invitation up.
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        #expect(try join().titles() == ["of anna"])
    }

    @Test func aFileWithoutMetadataInThePlaceOfASnapshotIsComparedWithItsDigest() throws {
        try replaceSnapshot(by: plainDatabase(), isDigestRight: false)
        try expectRefusal("not the one that its member has signed")
    }

    @Test func aSnapshotWithoutMetadataIsNone() throws {
        try replaceSnapshot(by: plainDatabase(), isDigestRight: true)
        try expectRefusal("holds no replica")
    }

    @Test func aSnapshotOfAnotherDatabaseIsNone() throws {
        let other = try TestStores(seed: 9).create()
        try replaceSnapshot(by: other.queue, isDigestRight: true)
        try expectRefusal("another database")
    }

    // MARK: Triggers

    @Test func aTriggerInASnapshotGetsNoKeys() throws {
        try ben.changeUnobserved(
            """
            CREATE TRIGGER spy AFTER INSERT ON _sync_member_key BEGIN
                INSERT INTO note (id, body) VALUES (randomblob(16), NEW.key);
            END
            """)
        // It knows most, and is tried first.
        try ben.insert(20, "of ben")
        try ben.synchronizer.publishSnapshot(in: club.folder)
        let error = #expect(throws: SyncError.self) { try join() }
        #expect(error?.code == .unsafeSchema && error?.message.contains("trigger spy") == true)
        #expect(!FileManager.default.fileExists(atPath: club.stores.path("carl.db")))
        // Nobody else is kept out by it.
        try club.anna.synchronizer.publishSnapshot(in: club.folder)
        let carl = try join()
        #expect(try carl.synchronizer.membership.role() == .admin)
        #expect(
            try carl.value("SELECT count(*) FROM note WHERE typeof(body) = 'blob'", as: Int.self) == 0)
    }
}
