import Foundation
import Testing

@testable import CipherStore

/// Files that change under the connection that has them open.
@Suite struct OpenFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: Identity

    @Test(arguments: [true, false]) func aFileThatIsReplacedWhileItIsBeingOpenedIsNoticed(isMoved: Bool)
        throws
    {
        let path = folder.file("a.db")
        let other = folder.file("b.db")
        for file in [path, other] {
            try DatabaseQueue(path: file).write { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
        var configuration = Configuration()
        configuration.prepareDatabase { _ in
            if isMoved {
                try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
            try FileManager.default.copyItem(atPath: other, toPath: path)
        }
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == .replaced)
        #expect(try DatabaseQueue(path: path).read { try $0.tableExists("t") })
    }

    @Test func aLinkThatLeadsElsewhereBeforeTheFileIsOpenIsNoticed() throws {
        let path = folder.file("link.db")
        let files = FileManager.default
        for name in ["a.db", "b.db"] {
            try DatabaseQueue(path: folder.file(name)).write { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
        try files.createSymbolicLink(atPath: path, withDestinationPath: folder.file("a.db"))
        var configuration = Configuration()
        let destination = folder.file("b.db")
        configuration.prepareDatabase { _ in
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: destination)
        }
        let error = #expect(throws: StoreError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(error?.code == .replaced)
        #expect(throws: Never.self) { try DatabaseQueue(path: path) }
    }

    // MARK: Files that are watched

    /// No test of this process may enter another folder.
    @Test func aRelativePathStaysThatOfTheFolderInWhichItWasOpened() throws {
        let files = FileManager.default
        #expect(WatchedFile("a.db", in: folder.path) == nil)
        _ = files.createFile(atPath: folder.file("a.db"), contents: Data([1]))
        let watched = try #require(WatchedFile("a.db", in: folder.path))
        #expect(watched.path == folder.file("a.db"))
        #expect(!watched.isReplaced)
        try files.moveItem(atPath: folder.file("a.db"), toPath: folder.file("b.db"))
        #expect(watched.isReplaced)
        _ = files.createFile(atPath: folder.file("a.db"), contents: Data([1]))
        #expect(watched.isReplaced)
        try files.removeItem(atPath: folder.file("a.db"))
        try files.moveItem(atPath: folder.file("b.db"), toPath: folder.file("a.db"))
        #expect(!watched.isReplaced)
    }

    #if compiler(>=6.3)
        @Test func aRelativePathLeadsToItsKeyringFromAnotherFolder() async throws {
            let store = try KeyringStore()
            let (copy, plain) = (store.folder.file("copy.db"), store.folder.file("plain.db"))
            try makeStore(plain)
            await #expect(processExitsWith: .success) { [path = store.folder.path as String] in
                try OpenFileTests.useRelativePaths(in: path)
            }
            #expect(try hasTable("note", copy, "first"))
            #expect(try hasTable("t", plain, "new"))
            #expect(try store.title(.keyed("new")) == "kept")
        }

        @Test func aPassphraseIsChangedInTheFileThatIsOpenFromAnotherFolder() async throws {
            let home = folder
            let other = home.file("other")
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            for name in ["queue.db", "pool.db"] {
                try makeStore(home.file(name))
                try makeStore("\(other)/\(name)", table: "another")
            }
            await #expect(processExitsWith: .success) { [path = home.path as String] in
                try OpenFileTests.changePassphrases(in: path)
            }
            for name in ["queue.db", "pool.db"] {
                #expect(try hasTable("written", home.file(name), "new"))
                #expect(try hasTable("another", "\(other)/\(name)", "old"))
            }
        }

        /// Runs in a process of its own, because it enters other folders.
        static func changePassphrases(in folder: String) throws {
            let files = FileManager.default
            try #require(files.changeCurrentDirectoryPath(folder))
            let queue = try DatabaseQueue(path: "queue.db", configuration: .keyed("old"))
            let pool = try DatabasePool(path: "pool.db", configuration: .keyed("old"))
            try #require(files.changeCurrentDirectoryPath(folder + "/other"))
            try queue.changePassphrase("new")
            try pool.changePassphrase("new")
            try queue.write { try $0.execute(sql: "CREATE TABLE written (a)") }
            try pool.write { try $0.execute(sql: "CREATE TABLE written (a)") }
            try queue.close()
            try pool.close()
        }

        @Test func furtherConnectionsOpenTheFileThatIsOpenFromAnotherFolder() async throws {
            let home = folder
            let other = home.file("other")
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            for path in [home.file("pool.db"), other + "/pool.db"] {
                try makeStore(path, table: path.hasPrefix(other) ? "another" : "t")
                // Else no snapshot could be made of it.
                try DatabasePool(path: path, configuration: .keyed("old")).close()
            }
            await #expect(processExitsWith: .success) { [path = home.path as String] in
                try OpenFileTests.openFurtherConnections(in: path)
            }
        }

        /// Runs in a process of its own, because it enters other folders.
        static func openFurtherConnections(in folder: String) throws {
            let (files, other) = (FileManager.default, folder + "/other")
            try #require(files.changeCurrentDirectoryPath(folder))
            let pool = try DatabasePool(path: "pool.db", configuration: .keyed("old"))
            try #require(files.changeCurrentDirectoryPath(other))
            let snapshots = try pool.writeWithoutTransaction { try DatabaseSnapshotPool($0) }
            let isInSnapshots = try snapshots.read { try $0.tableExists("t") }
            try #require(isInSnapshots)
            let isInReads = try pool.read { try $0.tableExists("t") }
            try #require(isInReads)
            let isInSnapshot = try pool.makeSnapshot().read { try $0.tableExists("t") }
            try #require(isInSnapshot)
            let before = try files.contentsOfDirectory(atPath: other)
            let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
            var during: Set<String> = []
            try pool.writeWithoutTransaction { db in
                try StoreArchive.write(
                    of: db, lock: lock, preparation: nil, now: Date(),
                    to: { _ in during.formUnion(try files.contentsOfDirectory(atPath: other)) })
            }
            try #require(during == Set(before))
        }

        private func makeStore(_ path: String, table: String = "t") throws {
            let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
            try queue.write { try $0.execute(sql: "CREATE TABLE \(table) (a)") }
            try queue.close()
        }

        private func hasTable(_ name: String, _ path: String, _ passphrase: String) throws -> Bool {
            let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
            return try queue.read { try $0.tableExists(name) }
        }

        /// Runs in a process of its own, because it enters other folders.
        static func useRelativePaths(in folder: String) throws {
            let (files, other) = (FileManager.default, folder + "/other")
            try files.createDirectory(atPath: other, withIntermediateDirectories: false)
            try #require(files.changeCurrentDirectoryPath(folder))
            let keyed = try DatabaseQueue(path: "notes.db", configuration: .keyed("first"))
            let plain = try DatabaseQueue(path: "plain.db", configuration: .keyed("old"))
            try #require(files.changeCurrentDirectoryPath(other))
            try keyed.vacuum(into: folder + "/copy.db")
            for queue in [keyed, plain] {
                try queue.writeWithoutTransaction { try $0.changePassphrase("new") }
                try queue.close()
            }
        }
    #endif

    /// The owner of the system may look into any folder.
    @Test(.enabled(if: geteuid() != 0)) func aFileThatCannotBeLookedAtForAMomentIsNotReplaced() throws {
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path)
        _ = try? queue.read { try $0.tableExists("t") }
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        #expect(try queue.read { try $0.tableExists("t") })
    }

    // MARK: Copies beside a checkpoint

    /// What a copy finds when another process is writing a page at a checkpoint, or
    /// was killed while it did: the page in the file is broken, that of the WAL counts.
    @Test func aPageThatACheckpointIsWritingIsNoDamage() throws {
        var configuration = Configuration.keyed("old")
        configuration.journalMode = .wal
        configuration.allowsUnsafeTransactions = true
        let path = folder.file("a.db")
        let source = try DatabaseQueue(path: path, configuration: configuration)
        let reader = try DatabaseQueue(path: path, configuration: configuration)
        try source.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB)")
            for id in 0..<8 {
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [id, Data(count: 3000)])
            }
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        // The snapshot keeps the checkpoint from writing anything.
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT * FROM t WHERE id = 0")
        }
        try source.inDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; UPDATE t SET a = zeroblob(3001)")
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let end = try file.seekToEnd()
        try file.seek(toOffset: end - 4096 + 100)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 1000))
        try file.close()
        try source.inDatabase { db in
            var checkpointCount = 0
            db.trace { event in
                guard "\(event)".contains("wal_checkpoint") else { return }
                checkpointCount += 1
                if checkpointCount == 2 { reader.inDatabase { try? $0.execute(sql: "COMMIT") } }
            }
            try StoreCopy.make(of: db, at: folder.file("copy.db"), passphrase: Passphrase("new"))
            db.trace(options: [])
            #expect(checkpointCount == 2)
        }
        let copy = try DatabaseQueue(path: folder.file("copy.db"), configuration: .keyed("new"))
        #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT sum(length(a)) FROM t") } == 8 * 3001)
    }

    @Test func aPageThatStaysBrokenIsDamage() throws {
        var configuration = Configuration.keyed("old")
        configuration.journalMode = .wal
        let path = folder.file("a.db")
        let source = try DatabaseQueue(path: path, configuration: configuration)
        try source.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (a BLOB); INSERT INTO t VALUES (zeroblob(20000)); PRAGMA wal_checkpoint(TRUNCATE)"
            )
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: file.seekToEnd() - 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 100))
        try file.close()
        let error = #expect(throws: StoreError.self) {
            try source.inDatabase {
                try StoreCopy.make(of: $0, at: folder.file("copy.db"), passphrase: Passphrase("new"))
            }
        }
        #expect(error?.code == .damaged)
    }
}
