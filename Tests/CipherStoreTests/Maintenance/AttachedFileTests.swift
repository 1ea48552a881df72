import Foundation
import Testing

@testable import CipherStore

/// Files that `ATTACH` makes without a key of their own.
@Suite struct AttachedFileTests {
    private func expectRefusal(_ db: Database, _ sql: String, _ arguments: StatementArguments = []) {
        let error = #expect(throws: DatabaseError.self, "\(sql)") {
            try db.execute(sql: sql, arguments: arguments)
        }
        #expect(error?.resultCode == .SQLITE_MISUSE, "\(sql)")
        #expect(error?.storeError?.code == .encryptionMismatch, "\(sql)")
        #expect(error?.message?.contains("KEY ?") == true, "\(sql)")
        #expect(error.map { "\($0)".contains("MARKER") } == false, "\(sql)")
    }

    @Test func aFileUnderADataKeyIsNotMade() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        let before = try store.folder.contents()
        let path = store.folder.file("o.db")
        try queue.inDatabase { db throws in
            expectRefusal(db, "ATTACH '\(path)' AS o")
            expectRefusal(db, "ATTACH '\(path)' AS key KEY NULL")
            expectRefusal(db, "ATTACH '\(path)' AS o KEY (NULL)")
            expectRefusal(db, "attach database ? AS o", [path])
            // Of an optional passphrase that is nil.
            expectRefusal(db, "ATTACH ? AS o KEY ?", [path, nil])
            expectRefusal(db, "ATTACH ?2 AS o KEY ?1", [nil, path])
            expectRefusal(db, "ATTACH :path AS o KEY :key", ["path": path, "key": nil])
            expectRefusal(db, "ATTACH :path AS o", ["path": path])
            expectRefusal(db, "ATTACH '\(store.folder.path)' || CAST('/o.db' AS TEXT) AS o")
            expectRefusal(db, "ATTACH 'file:\(path)' AS o")
            // Of what is made of an optional passphrase.
            expectRefusal(db, "ATTACH ? AS o KEY ? || 'x'", [path, nil])
            expectRefusal(db, "ATTACH ? AS o KEY 'MARKER' || ? || ?", [path, "MARKER", nil])
            expectRefusal(db, "ATTACH :path AS o KEY lower(:key)", ["path": path, "key": nil])
            expectRefusal(db, "ATTACH '\(path)' AS o KEY nullif('MARKER', 'MARKER')")
            expectRefusal(db, "ATTACH '\(path)' AS o KEY (SELECT NULL)")
            #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: "ATTACH ? AS o", arguments: [path])
            }
            let statement = try db.makeStatement(sql: "ATTACH '\(path)' AS o")
            for _ in 1...2 { #expect(throws: DatabaseError.self) { try statement.step() } }
            let keyed = try db.makeStatement(sql: "ATTACH ? AS o KEY ?")
            try keyed.setArguments([path, nil])
            #expect(throws: DatabaseError.self) { try keyed.step() }
            let made = try store.folder.contents()
            #expect(made == before)
            // These are gone with the connection.
            try db.execute(sql: "ATTACH '' AS a; ATTACH ':memory:' AS b; ATTACH NULL AS c")
            try db.execute(sql: "ATTACH ? AS key KEY ?", arguments: [path, "other"])
            try db.execute(sql: "CREATE TABLE key.t (a); INSERT INTO key.t VALUES (5)")
            // A file that is there is not made: SQLCipher says whether the key is that of it.
            try db.execute(sql: "DETACH key")
            try db.execute(sql: "ATTACH ? AS again KEY lower(?)", arguments: [path, "OTHER"])
            try db.execute(sql: "DETACH again; ATTACH '\(path)' AS again KEY lower(?)", arguments: ["OTHER"])
            try db.execute(sql: "ATTACH '\(path)2' AS literal KEY \"other\"")
            // What is made of a passphrase that is there is one.
            try db.execute(sql: "ATTACH ? AS joined KEY 'a' || ?", arguments: [path + "3", "b"])
            try db.execute(sql: "CREATE TABLE joined.t (a); INSERT INTO joined.t VALUES (6); DETACH joined")
            try db.execute(sql: "ATTACH ? AS joined KEY ?", arguments: [path + "3", "ab"])
            let value = try Int.fetchOne(db, sql: "SELECT a FROM joined.t")
            #expect(value == 6)
        }
        try queue.close()
        let other = try DatabaseQueue(path: path, configuration: .keyed("other"))
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
    }

    @Test func aKeyIsWhatFollowsTheWord() {
        #expect(AttachedFile("ATTACH 'a' AS key").key == .missing)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ((NULL))").key == .missing)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ?").key == .parameter("?"))
        #expect(AttachedFile("ATTACH 'a' AS b KEY ?12").key == .parameter("?12"))
        #expect(AttachedFile("ATTACH 'a' AS b KEY (@k)").key == .parameter("@k"))
        #expect(AttachedFile("ATTACH 'a' AS b KEY $k").key == .parameter("$k"))
        #expect(AttachedFile("ATTACH 'a' AS b KEY '?'").key == .literal)
        #expect(AttachedFile("ATTACH 'a' AS b KEY (x'6162')").key == .literal)
        #expect(AttachedFile("ATTACH 'a' AS b KEY word").key == .literal)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ? || 'x'").key == .concatenation)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ('x'||:k||?3)").key == .concatenation)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ? | ?").key == .expression)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ? || NULL").key == .expression)
        #expect(AttachedFile("ATTACH 'a' AS b KEY ? || lower(?)").key == .expression)
        #expect(AttachedFile("ATTACH 'a' AS b KEY (NULL) || (NULL)").key == .expression)
        #expect(AttachedFile("ATTACH 'a' AS b KEY word(1)").key == .expression)
        #expect(AttachedFile("ATTACH ? AS b KEY 'c'").nameParameter == "?")
        #expect(AttachedFile("ATTACH :a AS b KEY 'c'").nameParameter == ":a")
        #expect(AttachedFile("ATTACH ':a' AS b KEY 'c'").nameParameter == nil)
    }

    @Test func aURINamesAFileThatIsThere() throws {
        let folder = try TemporaryFolder()
        try Data([1]).write(to: URL(fileURLWithPath: folder.file("a b.db")))
        func isNew(_ uri: String, readsURIs: Bool = true) -> Bool {
            AttachedFile("ATTACH '\(uri)' AS o").isNew(readsURIs: readsURIs)
        }
        for prefix in ["file:", "file://", "file://localhost"] {
            #expect(!isNew("\(prefix)\(folder.path)/a%20b.db"))
            #expect(!isNew("\(prefix)\(folder.path)/a%20b.db?cache=private#x"))
            #expect(isNew("\(prefix)\(folder.path)/other.db"))
        }
        #expect(isNew("file://elsewhere\(folder.path)/a%20b.db"))
        // A connection that reads no URIs would make a file of that name.
        #expect(isNew("file:\(folder.path)/a%20b.db", readsURIs: false))
    }

    @Test func aFileOfTheSameKeyIsAttached() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        let path = store.folder.file("copy.db")
        try queue.vacuum(into: path)
        try queue.inDatabase { db throws in
            try db.execute(sql: "ATTACH ? AS copy", arguments: [path])
            let title = try String.fetchOne(db, sql: "SELECT title FROM copy.note")
            #expect(title == "kept")
        }
    }

    @Test func aFileOfOtherSettingsThanItsKeyIsNotMade() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration.keyed("secret")
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cipher_page_size = 8192") }
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        queue.inDatabase { expectRefusal($0, "ATTACH ? AS o", [folder.file("o.db")]) }
        let memory = try DatabaseQueue(configuration: .keyed("secret"))
        memory.inDatabase { expectRefusal($0, "ATTACH ? AS o", [folder.file("o.db")]) }
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func aFileOfTheDefaultSettingsOpensByThePassphraseOfTheDatabase() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH ? AS o", arguments: [folder.file("o.db")])
            try db.execute(sql: "CREATE TABLE o.t (a); INSERT INTO o.t VALUES (5)")
        }
        let other = try DatabaseQueue(path: folder.file("o.db"), configuration: .keyed("secret"))
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
    }
}
