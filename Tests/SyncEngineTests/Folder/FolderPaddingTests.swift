import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Files in a folder whose sizes say little.
@Suite struct FolderPaddingTests {
    let stores: TestStores
    let folder: FolderTransport

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    private func sync(_ replica: TestReplica) throws {
        stores.clock.advance(milliseconds: 10)
        _ = try replica.synchronizer.run(.both, folder)
    }

    private func insert(_ replica: TestReplica, _ number: UInt8, _ title: String = "row") throws {
        try replica.execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), title])
    }

    private func files(_ suffix: String) throws -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? [])
            .filter { $0.hasSuffix(suffix) }
    }

    private func path(_ file: String) -> String { folder.path + "/" + file }

    @Test func filesOfAStoreThatPadsSayLittleByTheirSizes() throws {
        let first = try stores.create()
        try insert(first, 1)
        let all = [first, try stores.clone(first, as: "b.db")]
        for replica in all + all { try sync(replica) }
        #expect(try all[0].synchronizer.filePadding() == .none)
        try all[0].synchronizer.setFilePadding(.padme)
        #expect(try all[0].synchronizer.filePadding() == .padme)
        var sizes: Set<Int> = []
        for (number, title) in ["a", "a rather long title that somebody typed", "é"].enumerated() {
            let before = try Set(files(".bundle"))
            try insert(all[0], UInt8(20 + number), title)
            try sync(all[0])
            for file in try files(".bundle") where !before.contains(file) {
                sizes.insert(try #require(FolderPaths.byteCount(path(file))))
            }
        }
        #expect(sizes.count == 1)
        // Each store decides for its own files, and reads all.
        let head = try FolderHead.read(path("\(all[0].synchronizer.status().replica)/head"), folder)
        #expect(head.bundles.count == 4)
        try insert(all[1], 30)
        for replica in all + all { try sync(replica) }
        #expect(try all[0].dump() == all[1].dump())
        try all[0].synchronizer.setFilePadding(.none)
        #expect(try all[0].synchronizer.filePadding() == .none)
    }
}
