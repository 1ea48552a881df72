import Foundation
import Testing

@testable import CipherStore

/// A tokenizer without tokens.
private final class DeafTokenizer: FTS5CustomTokenizer {
    static let name = "deaf"

    init(db: Database, arguments: [String]) throws {
        if arguments == ["fail"] { throw DatabaseError(resultCode: .SQLITE_RANGE) }
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt, tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt { 0 }
}

/// The tables of FTS5, where the engine has it.
@Suite(.enabled(if: EngineFeatures.current.supportsFTS5)) struct FTS5Tests {
    /// Leaves out the words of a table of the database.
    private final class StopWords: FTS5WrapperTokenizer {
        static let name = "stopwords"
        let wrappedTokenizer: any FTS5Tokenizer
        let words: Set<String>

        init(db: Database, arguments: [String]) throws {
            wrappedTokenizer = try db.makeTokenizer(FTS5TokenizerDescriptor(components: arguments))
            words = try String.fetchSet(db, sql: "SELECT word FROM stopWord")
        }

        func accept(
            token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
            tokenCallback: FTS5WrapperTokenCallback
        ) throws {
            if token == "throw" { throw DatabaseError(resultCode: .SQLITE_AUTH) }
            if token == "done" { throw DatabaseError(resultCode: .SQLITE_DONE) }
            if token == "empty" { try tokenCallback("", flags) }
            if !words.contains(token) { try tokenCallback(token, flags) }
        }
    }

    private func count(_ db: Database, _ pattern: FTS5Pattern?) throws -> Int {
        try Table("noteText").matching(pattern).fetchCount(db)
    }

    @Test func aSynchronizedTableFollowsItsContent() throws {
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        try queue.write { db in
            try db.create(table: "note") { t in
                t.uuidPrimaryKey("id")
                t.column("body", .text)
            }
            try db.execute(
                sql: "INSERT INTO note VALUES (?, 'an encrypted database')", arguments: [UUID.v7()])
            try db.create(virtualTable: "noteText", using: FTS5()) { t in
                t.synchronize(withTable: "note")
                t.prefixes = [2, 3]
                t.column("body")
            }
            let before = try count(db, FTS5Pattern(matchingAllPrefixesIn: "encr data"))
            #expect(before == 1)
            try db.execute(sql: "UPDATE note SET body = 'a plain one'")
            let after = try ["encr", "plain"].map {
                try count(db, FTS5Pattern(matchingAllPrefixesIn: $0))
            }
            #expect(after == [0, 1])
            try db.alter(table: "note") { $0.add(column: "colour", .text) }
            try db.alter(table: "note") { $0.drop(column: "colour") }
            try db.execute(sql: "DELETE FROM note")
            let end = try count(db, FTS5Pattern(matchingAnyTokenIn: "plain"))
            #expect(end == 0)
            try db.execute(sql: "INSERT INTO noteText (noteText) VALUES ('integrity-check')")
            try db.drop(table: "noteText")
            try db.dropFTS5SynchronizationTriggers(forTable: "noteText")
            try db.execute(sql: "INSERT INTO note VALUES (?, 'without index')", arguments: [UUID.v7()])
        }
    }

    @Test func namesAndOptionsAreQuoted() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE \"the 'notes'\" (\"my id\" INTEGER PRIMARY KEY, \"a \"\"b\" TEXT)")
            try db.create(virtualTable: "the index", using: FTS5()) { t in
                t.synchronize(withTable: "the 'notes'")
                t.tokenizer = .unicode61(tokenCharacters: ["'", "\""])
                t.column("a \"b")
            }
            try db.execute(sql: "INSERT INTO \"the 'notes'\" VALUES (7, 'it''s')")
            let ids = try Int.fetchAll(
                db, sql: "SELECT rowid FROM \"the index\" WHERE \"the index\" MATCH ?",
                arguments: ["\"it's\""])
            #expect(ids == [7])
        }
    }

    @Test func rowsAreOrderedByRank() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("body") }
            try db.execute(sql: "INSERT INTO noteText VALUES ('one sea, and much else'), ('sea sea')")
            let rows = try Table("noteText").matching(FTS5Pattern(matchingPhrase: "sea"))
                .order(Column.rank).select(Column.rowID).asRequest(of: Int.self).fetchAll(db)
            #expect(rows == [2, 1])
            let column = try Table("noteText").filter(
                Column("body").match(FTS5Pattern(matchingPhrase: "else"))
            )
            .fetchCount(db)
            #expect(column == 1)
        }
    }

    // MARK: Patterns

    @Test func tokensOfPatternsAreThoseOfTheEngine() throws {
        var generator = SeededGenerator(seed: 5)
        let characters = Array("aZ09_ -*^\"'():{}\0\u{7F}é漢👩‍🚀\u{1A}ANDORNEAR")
        try DatabaseQueue().write { db in
            let ascii = try db.makeTokenizer(.ascii())
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("body") }
            for _ in 0..<500 {
                let text = String(
                    (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                        characters[Int.random(in: 0..<characters.count, using: &generator)]
                    })
                let tokens = try ascii.tokenize(query: text).map(\.token)
                let pattern = FTS5Pattern(matchingAllTokensIn: text)
                #expect(pattern?.rawPattern ?? "" == tokens.joined(separator: " "))
                for pattern in [
                    pattern, FTS5Pattern(matchingAnyTokenIn: text), FTS5Pattern(matchingPhrase: text),
                    FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPrefixPhrase: text),
                ] {
                    #expect(throws: Never.self) { try count(db, pattern) }
                }
            }
        }
    }

    @Test func rawPatternsAreChecked() throws {
        try DatabaseQueue().write { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { $0.column("body") }
            let pattern = try db.makeFTS5Pattern(rawPattern: "body: sea", forTable: "noteText")
            #expect(FTS5Pattern.fromDatabaseValue("sea".databaseValue)?.rawPattern == "sea")
            #expect(FTS5Pattern.fromDatabaseValue("(".databaseValue) == nil)
            #expect(pattern.databaseValue == "body: sea".databaseValue)
            let error = #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "title: sea", forTable: "noteText")
            }
            #expect(error?.message == "no such column: title")
        }
    }

    // MARK: Tokenizers

    private func withStopWords(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            db.add(tokenizer: StopWords.self)
            try db.execute(sql: "CREATE TABLE stopWord (word TEXT); INSERT INTO stopWord VALUES ('the')")
            try body(db)
        }
    }

    @Test func aTokenizerCanReadTheDatabaseWhileItsTableIsOpened() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration.keyed("secret")
        configuration.prepareDatabase { $0.add(tokenizer: StopWords.self) }
        let path = folder.file("notes.db")
        try DatabaseQueue(path: path, configuration: configuration).write { db in
            try db.execute(sql: "CREATE TABLE stopWord (word TEXT); INSERT INTO stopWord VALUES ('the')")
            try db.create(virtualTable: "noteText", using: FTS5()) { t in
                t.tokenizer = StopWords.tokenizerDescriptor(arguments: ["porter", "ascii"])
                t.column("body")
            }
            try db.execute(sql: "INSERT INTO noteText VALUES ('the databases')")
        }
        // Another connection makes the tokenizer while it prepares its first statement, which is
        // observed.
        final class Observer: TransactionObserver {
            var tables: [String] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { tables.append(event.tableName) }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let observer = Observer()
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        queue.add(transactionObserver: observer)
        try queue.write { db in
            try db.execute(sql: "DELETE FROM stopWord WHERE word IN (SELECT 'the' FROM noteText)")
            let matches = try ["database", "the"].map { word in
                try count(db, FTS5Pattern(matchingPhrase: word))
            }
            #expect(matches == [1, 0])
        }
        #expect(observer.tables == ["stopWord"])
    }

    @Test func tokenizersOutliveTheirConnection() throws {
        var tokenizers: [any FTS5Tokenizer] = []
        try withStopWords { db in
            tokenizers.append(try db.makeTokenizer(StopWords.tokenizerDescriptor(arguments: ["ascii"])))
            tokenizers.append(try db.makeTokenizer(.porter()))
        }
        let tokens = try tokenizers.map { try $0.tokenize(document: "the Databases").map(\.token) }
        #expect(tokens == [["databases"], ["the", "databas"]])
    }

    @Test func errorsOfATokenizerMakeTheStatementFail() throws {
        try withStopWords { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { t in
                t.tokenizer = StopWords.tokenizerDescriptor(arguments: ["ascii"])
                t.column("body")
            }
            // FTS5 leaves a part of a refused row behind, which the savepoint takes away.
            func insert(_ body: String) throws {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO noteText VALUES (?)", arguments: [body])
                    return .commit
                }
            }
            let refused = #expect(throws: DatabaseError.self) { try insert("a throw") }
            #expect(refused?.resultCode == .SQLITE_AUTH)
            // The code of a success is none of an error.
            #expect(throws: DatabaseError.self) { try insert("a done") }
            try insert("empty")
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM noteText")
            #expect(count == 1)
        }
    }

    @Test func tokenizersThatCannotBeMadeAreErrors() throws {
        try DatabaseQueue().write { db in
            db.add(tokenizer: DeafTokenizer.self)
            db.add(tokenizer: DeafTokenizer.self)
            let unknown = #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["missing"]))
            }
            #expect(unknown?.message?.contains("missing") == true)
            let failed = #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(DeafTokenizer.tokenizerDescriptor(arguments: ["fail"]))
            }
            #expect(failed?.resultCode == .SQLITE_RANGE)
            #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["unicode61", "nonsense"]))
            }
            let silent = try db.makeTokenizer(DeafTokenizer.tokenizerDescriptor()).tokenize(query: "a b")
            #expect(silent.isEmpty)
            let version = try FTS5.api(db).pointee.iVersion
            #expect(version >= 2)
        }
    }
}

/// Each use of FTS5 where the engine does not have it.
@Suite(.disabled(if: EngineFeatures.current.supportsFTS5)) struct MissingFTS5Tests {
    @Test func eachUseSaysWhatIsMissing() throws {
        try DatabaseQueue().write { db in
            // Registering is harmless, so that an app's set-up is the same on all engines.
            db.add(tokenizer: DeafTokenizer.self)
            let uses: [() throws -> Void] = [
                { try db.create(virtualTable: "t", using: FTS5()) { $0.column("a") } },
                { _ = try db.makeTokenizer(.ascii()) },
                { _ = try FTS5.api(db) },
                { _ = try FTS5Pattern(rawPattern: "a") },
                { _ = try db.makeFTS5Pattern(rawPattern: "a", forTable: "sqlite_master") },
            ]
            for use in uses {
                let error = #expect(throws: DatabaseError.self) { try use() }
                #expect(error?.message?.hasPrefix("FTS5 is not available") == true)
            }
            #expect(FTS5Pattern(matchingAllTokensIn: "Moby, Dick")?.rawPattern == "moby dick")
            #expect(FTS5Pattern.fromDatabaseValue("a".databaseValue) == nil)
        }
    }
}
