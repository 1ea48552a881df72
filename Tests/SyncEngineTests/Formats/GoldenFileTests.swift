import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Files that programs of each format have written, as they lay there (`docs/formats.md`). They are made by
/// `syncctl` of the commit that their name ends with.
@Suite struct GoldenFileTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// Copies a fixture, which may be a folder, and returns where the copy is.
    private func copy(_ name: String, as other: String? = nil) throws -> String {
        let path = stores.path(other ?? name)
        try FileManager.default.copyItem(
            atPath: Self.fixtures.appendingPathComponent(name).path, toPath: path)
        return path
    }

    private func open(_ path: String, _ passphrase: String = "correct horse") throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func titles(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
    }

    /// What each of these stores holds: three imported rows and one that came from a peer; then a conflict about one
    /// row; then an update and a deletion that have no versions yet.
    @Test(arguments: [
        ("metadata-v1-c041842.db", 1), ("metadata-v2-b8fc0dd.db", 2),
    ])
    func aStoreOfEachFormatIsReadUpgradedAndSynchronized(name: String, format: Int64) throws {
        let path = try copy(name)
        let queue = try open(path)
        #expect(try queue.read { try Int64.fetchOne($0, sql: "SELECT format FROM _sync_state") } == format)
        // As it is.
        let before = try Synchronizer(existing: queue, environment: stores.clock.environment).status()
        #expect(before.tables.map(\.rowCount) == [3])
        #expect(before.conflictCount == 1)
        // Upgraded.
        let synchronizer = try Synchronizer(queue, environment: stores.clock.environment)
        #expect(try titles(queue) == ["Books", "Groceries", "Holidays"])
        #expect(try synchronizer.conflicts().map(\.lost) == ["bread".databaseValue])
        #expect(
            try queue.read { try Int64.fetchOne($0, sql: "SELECT format FROM _sync_state") }
                == MetadataSchema.version)
        // A replica of it has the same, and both go on.
        let clonePath = stores.path("clone.db")
        try synchronizer.clone(to: clonePath, passphrase: Passphrase("of the clone"))
        let clone = try open(clonePath, "of the clone")
        #expect(try titles(clone) == titles(queue))
        try clone.write { try $0.execute(sql: "UPDATE note SET title = 'Holidays in June' WHERE stars = 7") }
        try clone.close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("of the clone") }
        let report = try synchronizer.run(
            .both, StoreTransport(path: clonePath, configuration: configuration))
        #expect(report.pulled?.rowCount == 1)
        #expect(try titles(queue) == ["Books", "Groceries", "Holidays in June"])
        #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) } == [])
    }

    /// A replica that an older program wrote, and one that the present program wrote, are replicas of one database.
    @Test func storesOfTwoFormatsMeet() throws {
        let old = try open(try copy("metadata-v1-c041842.db"))
        let synchronizer = try Synchronizer(existing: old, environment: stores.clock.environment)
        try synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("of the clone"))
        let new = try open(stores.path("b.db"), "of the clone")
        try new.write { try $0.execute(sql: "UPDATE note SET body = 'new'") }
        let report = try Synchronizer(new, environment: stores.clock.environment).run(
            .both, StoreTransport(path: old.path, configuration: old.configuration))
        #expect(report.pushed?.rowCount == 3)
        #expect(
            try old.read { try String.fetchSet($0, sql: "SELECT body FROM note") } == ["new"])
    }

    /// Bundles without facts about replicas, version 1, are in `Schemas/wire/vectors`.
    @Test func aBundleOfVersion2IsRead() throws {
        let bundle = try copy("bundle-v2-ea7f705")
        let access = BundleFile.Access.sealed(ArchiveSecret(try Passphrase("of the file")))
        #expect(try BundleFile.inspect(bundle, access).tables.map(\.name) == ["note"])
    }

    private static let keyrings = ["keyring-v1-b8fc0dd.db", "keyring-v2-f2b9c46.db"]

    @Test(arguments: keyrings) func aKeyringOfEachFormatOpens(name: String) throws {
        try expectTitles(of: name, by: "correct horse")
    }

    @Test(arguments: keyrings) func theSecondSlotOfAKeyringOfEachFormatOpens(name: String) throws {
        try expectTitles(of: name, by: "battery staple")
    }

    private func expectTitles(of name: String, by passphrase: String) throws {
        let path = try copy(name)
        _ = try copy(name + ".keys")
        var configuration = Configuration()
        configuration.useKeySlot(Secret(try Passphrase(passphrase)))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try titles(queue) == ["Groceries", "Holidays", "Ideas"])
        try queue.close()
    }

    /// What changes a keyring writes it in the format that it has, or in a newer one.
    @Test(arguments: keyrings) func aKeyringOfEachFormatIsChanged(name: String) throws {
        let path = try copy(name)
        _ = try copy(name + ".keys")
        let keyring = Keyring(store: path)
        try keyring.changePassphrase(
            from: Passphrase("battery staple"), to: Passphrase("a new one"), cost: .minimum)
        #expect(try keyring.information().slots.count == 2)
    }

    @Test(arguments: ["archive-v1-b8fc0dd.csa"]) func anArchiveOfEachFormatIsRestored(name: String) throws {
        let archive = try copy(name)
        let path = stores.path("restored.db")
        try Synchronizer.restore(
            archive: archive, to: path, opening: ArchiveSecret(Passphrase("of the archive")),
            passphrase: Passphrase("correct horse"), environment: stores.clock.environment)
        let queue = try open(path)
        _ = try Synchronizer(queue, environment: stores.clock.environment)
        #expect(try titles(queue) == ["Groceries", "Holidays", "Ideas"])
    }
}
