import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Remotes that a store remembers.
@Suite struct RememberedRemoteTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    @Test func aPlaceIsRememberedOnceByItsLastName() throws {
        let a = try stores.create()
        try a.synchronizer.remember(remote: .init(name: "b.db", location: "/x/b.db"))
        try a.synchronizer.remember(remote: .init(name: "./b.db", location: "/x/b.db"))
        try a.synchronizer.remember(remote: .init(name: "dir:y", location: "dir:/y"))
        #expect(try a.synchronizer.rememberedRemotes().map(\.name) == ["./b.db", "dir:y"])
        let before = try a.everything()
        try a.synchronizer.remember(remote: .init(name: "dir:y", location: "dir:/y"))
        #expect(try a.everything() == before)
        #expect(try a.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }

    @Test func itIsForgottenByNameOrPlaceWithWhatBecameOfIt() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.sync(b)
        let name = b.transport.name
        try a.synchronizer.remember(remote: .init(name: name, location: "/x/b.db"))
        #expect(try a.synchronizer.forget(remote: "/x/b.db"))
        #expect(try a.synchronizer.rememberedRemotes().isEmpty)
        #expect(try a.synchronizer.status().remotes.isEmpty)
        #expect(try !a.synchronizer.forget(remote: name))
    }

    @Test func aCloneDoesNotHaveThem() throws {
        let a = try stores.create()
        try a.synchronizer.remember(remote: .init(name: "b.db", location: "/x/b.db"))
        let b = try stores.clone(a, as: "b.db")
        #expect(try b.synchronizer.rememberedRemotes().isEmpty)
        #expect(try a.synchronizer.rememberedRemotes().count == 1)
    }

    // MARK: Copies

    private static let place = "dir:/clients/harriman"

    /// A store whose metadata name a place wherever they can.
    private func named() throws -> TestReplica {
        let a = try stores.create()
        let (place, clock) = (Self.place, stores.clock)
        try a.queue.write { db in
            try SyncAttempts.record(db, success: place, at: 1, skew: 0)
            for name in [place, place + "/never"] {
                try SyncAttempts.record(db, failure: SyncError(.otherStore, name), name: name, at: 2)
            }
            try PeerRegister(db: db).note(
                clock.environment.identifier(), name: place, at: 1, acknowledged: 0)
        }
        try a.synchronizer.remember(remote: .init(name: place, location: place))
        return a
    }

    /// The tables of the metadata that name the place.
    private func namingTables(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 6) = '_sync_' ORDER BY name"
            ).filter { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table)").contains { row in
                    row.databaseValues.contains { "\($0)".contains("harriman") }
                }
            }
        }
    }

    @Test func noNameOfARemoteIsInACloneOrAnArchive() throws {
        let a = try named()
        #expect(try namingTables(a.queue) == ["_sync_attempt", "_sync_peer", "_sync_setting"])
        let b = try stores.clone(a, as: "b.db")
        let lock = ArchiveLock(passphrase: try Passphrase("of the archive"), cost: .minimum)
        try a.synchronizer.archive(to: stores.path("a.csa"), lock: lock)
        // What somebody reads who opens the archive himself.
        try StoreArchive.restore(
            stores.path("a.csa"), to: stores.path("raw.db"),
            opening: ArchiveSecret(Passphrase("of the archive")),
            passphrase: Passphrase("passphrase of raw.db"))
        let raw = try DatabaseQueue(
            path: stores.path("raw.db"), configuration: TestStores.configuration("raw.db"))
        for queue in [b.queue, raw] { #expect(try namingTables(queue) == []) }
        #expect(try b.synchronizer.status().remotes.isEmpty)
        #expect(try b.queue.read { try ServedState.attempts($0, limit: 10) }.isEmpty)
        #expect(try b.problems() == [])
        #expect(try a.synchronizer.status().remotes.count == 2)
    }

    /// A copy that forgot it would send what was to stay here.
    @Test func aCopyHasTheChoicesForRemotes() throws {
        let a = try named()
        try a.synchronizer.setScope(.tables(["note"]), ofRemote: Self.place)
        let b = try stores.clone(a, as: "b.db")
        #expect(try b.synchronizer.scope(ofRemote: Self.place) == .tables(["note"]))
        #expect(try b.synchronizer.status().remotes.isEmpty)
    }

    @Test func aCopyKnowsWhetherAllTablesWereExchanged() throws {
        let (part, whole) = (try stores.create("part.db"), try stores.create("whole.db"))
        for store in [part, whole] {
            try store.synchronizer.setScope(.tables(["note"]), ofRemote: "dir:some")
            try store.queue.write { try SyncAttempts.record($0, success: "dir:some", at: 1, skew: 0) }
        }
        try whole.queue.write { try SyncAttempts.record($0, success: "dir:all", at: 1, skew: 0) }
        for (store, count) in [(part, 1), (whole, nil)] as [(TestReplica, Int?)] {
            let copy = try stores.clone(store, as: "copy-" + store.name)
            let again = try stores.clone(copy, as: "again-" + store.name)
            for store in [store, copy, again] {
                #expect(try store.queue.read { try ScopeStore(db: $0).heldTables() }?.count == count)
            }
        }
    }

    /// What it did would count as that of all remotes of the original.
    @Test func noRemoteIsCalledAsThoseOfTheOriginal() throws {
        let a = try stores.create()
        try a.queue.write { try SyncAttempts.record($0, success: "dir:all", at: 1, skew: 0) }
        let copy = try stores.clone(a, as: "copy.db")
        try copy.synchronizer.setScope(.tables(["note"]), ofRemote: "dir:some")
        let transport = StoreTransport(
            path: stores.path(a.name), configuration: TestStores.configuration(a.name), name: "/")
        let mailbox = MailboxTransport(
            mailbox: SlashFolder(folder: LocalFolder(path: stores.path("shared"))),
            passphrase: try Passphrase("folder"), cost: .minimum)
        let codes = [
            code { _ = try copy.synchronizer.run(.both, transport) },
            code { _ = try copy.synchronizer.run(.both, mailbox) },
            code { try copy.synchronizer.publishSnapshot(in: mailbox) },
            code { _ = try copy.synchronizer.setScope(.tables(["note"]), ofRemote: "/") },
            code { _ = try copy.synchronizer.setRowsAside(of: ["note"], ofRemote: "/") },
        ]
        #expect(codes == Array(repeating: SyncError.Code.reservedName, count: codes.count))
        let isForgotten = try copy.synchronizer.forget(remote: "/")
        #expect(!isForgotten)
        #expect(try copy.synchronizer.status().remotes.isEmpty)
        // All tables were exchanged, whatever was chosen since.
        #expect(try copy.queue.read { try ScopeStore(db: $0).heldTables() } == nil)
    }

    private func code(_ body: () throws -> Void) -> SyncError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SyncError)?.code
        }
    }
}

/// A folder that its app calls as nothing may be called.
private struct SlashFolder: Mailbox {
    let folder: LocalFolder
    var name: String { "/" }
    var location: String { folder.location }

    func folders() throws -> [String] { try folder.folders() }
    func files(in name: String) throws -> [MailboxFile] { try folder.files(in: name) }
    func open(_ path: MailboxPath) throws -> any MailboxReader { try folder.open(path) }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try folder.write(path, replacing: replacing, body)
    }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }
}
