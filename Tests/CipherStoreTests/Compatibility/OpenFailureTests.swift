import CipherStore
import Foundation
import Testing

/// What an app is told when the file system refuses to open a database.
@Suite struct OpenFailureTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Opens a queue and a pool, which fail, and returns the errors.
    private func failures(
        _ path: String, _ configuration: Configuration = .keyed("secret")
    ) throws -> [DatabaseError] {
        let queue = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
        let pool = #expect(throws: DatabaseError.self) {
            try DatabasePool(path: path, configuration: configuration)
        }
        return [try #require(queue), try #require(pool)]
    }

    @Test func aFolderThatIsMissingCannotBeOpened() throws {
        let path = folder.file("none/a.db")
        for error in try failures(path) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.storeError?.code == .cannotWrite)
            #expect(error.storeError?.path == path)
            #expect(error.description.contains("\(path): cannot create: "))
            #expect(error.description.contains("(errno \(ENOENT))"))
        }
    }

    @Test(arguments: ["-journal", "-wal", "-shm"])
    func aLinkInThePlaceOfAFileOfSQLiteIsNotFollowed(suffix: String) throws {
        let (path, victim) = (folder.file("a.db"), folder.file("victim"))
        try Data("not yours".utf8).write(to: URL(fileURLWithPath: victim))
        try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: victim)
        // A new store, then one that is there, then one that is reached by a link.
        for place in [path, path, folder.file("link.db")] {
            for error in try failures(place) {
                #expect(error.resultCode == .SQLITE_CANTOPEN)
                #expect(error.storeError?.code == .linkedCompanion)
                #expect(error.storeError?.path.map { $0.hasSuffix("/a.db" + suffix) } == true)
            }
            if place == path, !FileManager.default.fileExists(atPath: path) {
                try FileManager.default.removeItem(atPath: path + suffix)
                try DatabaseQueue(path: path, configuration: .keyed("secret")).close()
                try FileManager.default.createSymbolicLink(
                    atPath: path + suffix, withDestinationPath: victim)
                try FileManager.default.createSymbolicLink(
                    atPath: folder.file("link.db"), withDestinationPath: path)
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("not yours".utf8))
        // A dangling one would have SQLite make the file that it names.
        try FileManager.default.removeItem(atPath: victim)
        _ = try failures(path)
        #expect(!FileManager.default.fileExists(atPath: victim))
    }

    @Test func aDatabaseIsNotMadeWhereAnotherOneHasItsFiles() throws {
        let owner = folder.file("a.db")
        for suffix in ["-journal", "-wal", "-shm", ".keys", ".keys.bak"] {
            let path = owner + suffix
            try Data("a database".utf8).write(to: URL(fileURLWithPath: owner))
            for error in try failures(path) {
                #expect(error.resultCode == .SQLITE_CANTOPEN)
                #expect(error.storeError?.code == .reservedName)
                #expect(error.storeError?.path == path)
                #expect(error.description.contains("choose another name"))
            }
            #expect(try folder.contents() == ["a.db"])
            // Where there is no such file, the name is as good as any other.
            try FileManager.default.removeItem(atPath: owner)
            try DatabaseQueue(path: path, configuration: .keyed("secret")).close()
            // What is there is opened, so that it can be saved.
            try Data("a database".utf8).write(to: URL(fileURLWithPath: owner))
            try DatabaseQueue(path: path, configuration: .keyed("secret")).close()
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// SQLite would take it for the journal of a database without content, and remove it.
    @Test(arguments: ["-journal", "-wal", "-shm"], [false, true])
    func aDatabaseInThePlaceOfAFileOfSQLiteStays(suffix: String, isEncrypted: Bool) throws {
        let (path, other) = (folder.file("notes"), folder.file("notes" + suffix))
        let configuration = isEncrypted ? Configuration.keyed("secret") : Configuration()
        let queue = try DatabaseQueue(path: other, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: other))
        for error in try failures(path) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.storeError?.code == .exists)
            #expect(error.storeError?.path == other)
        }
        #expect(try folder.contents() == ["notes" + suffix])
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == before)
    }

    @Test func noDatabaseIsMadeOfAFileOfOneByteWhereOneIsRequired() throws {
        let path = folder.file("a.db")
        try Data([0x0A]).write(to: URL(fileURLWithPath: path))
        var configuration = Configuration.keyed("secret")
        configuration.requiresExistingFile = true
        let required = configuration
        let error = #expect(throws: StoreError.self) {
            _ = try DatabaseQueue(path: path, configuration: required)
        }
        #expect(error?.code == .empty && error?.path == path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([0x0A]))
    }

    /// SQLite does not count a single byte, and writes none alone.
    @Test func aFileOfOneByteInThePlaceOfAFileOfSQLiteStays() throws {
        let (path, other) = (folder.file("notes"), folder.file("notes-journal"))
        try Data([0x41]).write(to: URL(fileURLWithPath: other))
        for error in try failures(path) { #expect(error.storeError?.code == .exists) }
        #expect(try folder.contents() == ["notes-journal"])
    }

    /// It says nothing without its database, and SQLite removes it.
    @Test(arguments: [
        ("-journal", Data()), ("-journal", Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])),
        ("-journal", Data(count: 512)), ("-wal", Data([0x37, 0x7F, 0x06, 0x82])),
    ]) func whatARemovedDatabaseLeftIsNoReasonToRefuse(suffix: String, content: Data) throws {
        try content.write(to: URL(fileURLWithPath: folder.file("a.db" + suffix)))
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(try queue.read { try $0.tableExists("t") })
    }

    @Test func aDatabaseAtTheEndOfALinkIsPrivate() throws {
        let files = FileManager.default
        let (first, second) = (folder.file("first.db"), folder.file("second.db"))
        try files.createSymbolicLink(atPath: first, withDestinationPath: "second.db")
        try files.createSymbolicLink(atPath: second, withDestinationPath: folder.file("a.db"))
        let queue = try DatabaseQueue(path: first, configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let mode = try files.attributesOfItem(atPath: folder.file("a.db"))[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func aLinkLeadsToNoFileOfSQLite() throws {
        let (owner, link) = (folder.file("a.db"), folder.file("link.db"))
        try Data("a database".utf8).write(to: URL(fileURLWithPath: owner))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: owner + "-journal")
        for error in try failures(link) {
            #expect(error.storeError?.code == .reservedName)
            #expect(error.storeError?.path == owner + "-journal")
        }
        #expect(try folder.contents() == ["a.db", "link.db"])
    }

    @Test func aFolderIsNoDatabase() throws {
        for error in try failures(folder.path) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.storeError?.path == folder.path)
            #expect(error.description.contains("(errno \(EISDIR))"))
        }
    }

    @Test func aFileInThePlaceOfAFolderCannotBeEntered() throws {
        _ = FileManager.default.createFile(atPath: folder.file("file"), contents: Data())
        for error in try failures(folder.file("file/a.db")) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.description.contains("(errno \(ENOTDIR))"))
        }
    }

    @Test func aReadOnlyDatabaseMustBeThere() throws {
        var configuration = Configuration.keyed("secret")
        configuration.readonly = true
        let path = folder.file("a.db")
        for error in try failures(path, configuration) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.storeError?.code == .missing)
            #expect(error.storeError?.path == path)
        }
    }

    @Test func onePatternCatchesTheStoreErrorHoweverItComes() throws {
        var caught: [String] = []
        var existing = Configuration.keyed("secret")
        existing.requiresExistingFile = true
        for (path, configuration) in [
            (folder.file("none/a.db"), Configuration.keyed("secret")), (folder.file("a.db"), existing),
        ] {
            do {
                _ = try DatabaseQueue(path: path, configuration: configuration)
            } catch let error where StoreError(error)?.code == .missing {
                caught.append("missing")
            } catch let error where StoreError(error)?.code == .cannotWrite {
                caught.append("cannotWrite")
            }
        }
        #expect(caught == ["cannotWrite", "missing"])
        #expect(StoreError(DatabaseError(resultCode: .SQLITE_BUSY)) == nil)
        #expect(StoreError(StoreError(.full, "full"))?.code == .full)
    }

    /// The owner of the system may read and write everything.
    @Test(.enabled(if: geteuid() != 0)) func aForbiddenFileNamesItsPathAndTheReason() throws {
        let path = folder.file("a.db")
        try DatabaseQueue(path: path, configuration: .keyed("secret")).close()
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        for error in try failures(path) {
            #expect(error.resultCode == .SQLITE_CANTOPEN)
            #expect(error.storeError?.code == .cannotRead)
            #expect(error.storeError?.path == path)
            #expect(error.description.contains("(errno \(EACCES))"))
        }
    }

    @Test(.enabled(if: geteuid() != 0)) func aReadOnlyFileNamesItsPathAndTheReasonWhenItIsWritten() throws {
        let path = folder.file("a.db")
        let files = FileManager.default
        try DatabaseQueue(path: path, configuration: .keyed("secret")).close()
        try files.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let writing = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
        let opening = #expect(throws: DatabaseError.self) {
            try DatabasePool(path: path, configuration: .keyed("secret"))
        }
        for error in [writing, opening] {
            #expect(error?.resultCode == .SQLITE_READONLY)
            #expect(error?.storeError?.code == .cannotWrite)
            #expect(error?.storeError?.path == path)
            #expect(error?.description.contains("(errno \(EACCES))") == true)
        }
    }

    @Test func aBlockThatMustNotWriteSaysNothingOfTheFile() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(error?.storeError == nil)
    }

    @Test func aFileThatCannotBeAttachedIsNotTakenForTheDatabase() throws {
        let missing = folder.file("none/b.db")
        var configuration = Configuration.keyed("secret")
        configuration.prepareDatabase { try $0.execute(sql: "ATTACH ? AS b", arguments: [missing]) }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.storeError == nil)
    }
}
