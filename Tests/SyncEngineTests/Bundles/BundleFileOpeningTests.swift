import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What is known of a bundle file before it is opened, and what opening it costs.
@Suite struct BundleFileOpeningTests {
    let stores: TestStores
    let path: String

    init() throws {
        stores = try TestStores()
        path = stores.path("changes.bundle")
    }

    private func protection(_ text: String) throws -> BundleFile.Protection {
        .sealed(ArchiveLock(passphrase: try Passphrase(text), cost: .minimum))
    }

    private func write(_ bytes: some Sequence<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: stores.path("other")))
        return stores.path("other")
    }

    private func pair() throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    @Test func thePassphraseIsDerivedOnceToApplyABundle() throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(2)])
        let text = "of this test alone \(path)"
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection(text))
        let before = DerivedKeyMemo.requestCount(of: try Passphrase(text))
        #expect(
            try b.synchronizer.applyBundle(at: path, .sealed(ArchiveSecret(try Passphrase(text)))).applied?
                .rowCount == 2)
        #expect(DerivedKeyMemo.requestCount(of: try Passphrase(text)) == before + 1)
        #expect(try a.dump() == b.dump())
    }

    @Test func aBundleIsKnownByItsFirstBytes() throws {
        let (a, _) = try pair()
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection("bundle"))
        #expect(try BundleFile.beginsAsOne(path))
        let plain = stores.path("plain")
        try a.synchronizer.writeBundle(to: plain, since: .nothing, .plaintext)
        #expect(try BundleFile.beginsAsOne(plain))
        #expect(try BundleFile.beginsAsOne(write(Data(contentsOf: URL(fileURLWithPath: plain)).prefix(2))))
        let archive = stores.path("a.csa")
        try a.synchronizer.archive(
            to: archive, lock: ArchiveLock(passphrase: Passphrase("bundle"), cost: .minimum))
        #expect(try !BundleFile.beginsAsOne(archive))
        for start in ["title,stars\n", "SQLite format 3\0", "\u{1}\u{7F}\u{7F}\u{7F}\u{7F}"] {
            #expect(try !BundleFile.beginsAsOne(write(start.utf8)))
        }
    }
}
