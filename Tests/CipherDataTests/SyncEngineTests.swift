import CipherData
import Foundation
import SyncEngine
import Testing

/// Synchronization under the names of SQLiteData.
@Suite(.timeLimit(.minutes(10))) struct SyncEngineTests {
    private let pair: SyncPair

    init() throws {
        pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
    }

    private func insert(_ text: String) -> String {
        "INSERT INTO note VALUES ('\(UUID().uuidString.lowercased())', '\(text)')"
    }

    private let texts = "SELECT text FROM note ORDER BY text"

    @Test func theTypeIsFoundBesideTheModule() {
        // A type annotation, an initializer and a qualified name are looked up in different ways.
        let type: SyncEngine.Type = CipherData.SyncEngine.self
        #expect(type == SyncEngine.self)
    }

    @Test func changesAreSentAndFetched() async throws {
        try pair.here.execute(insert("one"))
        try pair.there.execute(insert("two"))
        try await pair.engine.sendChanges()
        #expect(try pair.there.strings(texts) == ["one", "two"])
        #expect(try pair.here.strings(texts) == ["one"])
        try await pair.engine.fetchChanges()
        #expect(try pair.here.strings(texts) == ["one", "two"])
        try pair.here.execute(insert("three"))
        try pair.there.execute(insert("four"))
        try await pair.engine.syncChanges()
        #expect(try pair.here.strings(texts) == pair.there.strings(texts))
        #expect(!pair.engine.isSynchronizing)
    }

    @Test func aRunningEngineSendsWhatIsWritten() async throws {
        #expect(!pair.engine.isRunning)
        try await pair.engine.start()
        #expect(pair.engine.isRunning)
        let arrivals = ValueObservation.tracking { [texts] db in try String.fetchAll(db, sql: texts) }
            .values(in: pair.there)
        try pair.here.execute(insert("one"))
        for try await texts in arrivals where texts == ["one"] { break }
        pair.engine.stop()
        #expect(!pair.engine.isRunning)
    }

    @Test func theDelegateIsToldOfReportsAndFailures() async throws {
        final class Delegate: SyncEngineDelegate {
            let events = AsyncStream.makeStream(of: String.self)
            func syncEngine(_ syncEngine: SyncEngine, didSynchronize report: SyncReport) {
                events.continuation.yield("report")
            }
            func syncEngine(_ syncEngine: SyncEngine, didFail error: any Error) {
                events.continuation.yield("failure")
            }
        }
        let delegate = Delegate()
        let engine = try pair.makeEngine(delegate: delegate)
        try await engine.syncChanges()
        let other = try pair.makeEngine(path: "/nowhere.db", delegate: delegate)
        await #expect(throws: (any Error).self) { try await other.syncChanges() }
        delegate.events.continuation.finish()
        var events: [String] = []
        for await event in delegate.events.stream { events.append(event) }
        #expect(events == ["report", "failure"])
    }

    @Test func localDataIsDeletedHereAndComesBack() async throws {
        try pair.here.execute(insert("one"))
        try await pair.engine.deleteLocalData()
        #expect(try pair.here.strings(texts).isEmpty)
        #expect(try pair.there.strings(texts) == ["one"])
        try await pair.engine.start()
        pair.engine.stop()
        #expect(try pair.here.strings(texts) == ["one"])
    }

    @Test func aNewEngineThatStartsBringsDeletedDataBack() async throws {
        try pair.here.execute(insert("one"))
        try await pair.engine.deleteLocalData()
        #expect(try pair.here.strings(texts).isEmpty)
        let arrivals = ValueObservation.tracking { [texts] db in try String.fetchAll(db, sql: texts) }
            .values(in: pair.here)
        let engine = try SyncEngine(for: pair.here, tables: ["note"], transport: pair.transport)
        for try await texts in arrivals where texts == ["one"] { break }
        engine.stop()
    }

    @Test func theChoiceOfTheAppOutlivesStartsAndDeletions() async throws {
        for text in ["one", "two"] { try pair.there.execute(insert(text)) }
        let (synchronizer, remote) = (pair.engine.synchronizer, pair.transport.name)
        let scope = SyncScope.rows(of: "note", where: "text", in: ["one"])
        try synchronizer.setScope(scope, ofRemote: remote)
        try await pair.engine.start()
        pair.engine.stop()
        #expect(try pair.here.strings(texts) == ["one"])
        // The second deletion finds nothing to remember.
        for _ in 0..<2 { try await pair.engine.deleteLocalData() }
        #expect(try pair.here.strings(texts).isEmpty)
        try await pair.engine.start()
        pair.engine.stop()
        #expect(try pair.here.strings(texts) == ["one"])
        #expect(try synchronizer.scope(ofRemote: remote) == scope)
    }

    @Test func whatIsChosenAfterADeletionStays() async throws {
        for text in ["one", "two"] { try pair.there.execute(insert(text)) }
        try await pair.engine.deleteLocalData()
        let scope = SyncScope.rows(of: "note", where: "text", in: ["two"])
        try pair.engine.synchronizer.setScope(scope, ofRemote: pair.transport.name)
        try await pair.engine.start()
        pair.engine.stop()
        #expect(try pair.here.strings(texts) == ["two"])
    }

    @Test func aDeletionThatFailsChoosesNothingElse() async throws {
        try pair.here.execute(insert("one"))
        let engine = try pair.makeEngine(path: "/nowhere.db", delegate: SilentDelegate())
        await #expect(throws: (any Error).self) { try await engine.deleteLocalData() }
        #expect(try engine.synchronizer.scope(ofRemote: "/nowhere.db") == .everything)
        try await pair.engine.syncChanges()
        #expect(try pair.here.strings(texts) == ["one"] && pair.there.strings(texts) == ["one"])
    }

    @Test func tablesWhoseFirstColumnCountsAreEmptied() async throws {
        let pair = try SyncPair(
            "CREATE TABLE tally (id TEXT PRIMARY KEY NOT NULL, count INTEGER NOT NULL DEFAULT 0, name TEXT)",
            ["tally"])
        try pair.engine.synchronizer.setPolicies([.counter("tally", "count")])
        try pair.here.execute("INSERT INTO tally VALUES ('\(UUID().uuidString.lowercased())', 3, 'hens')")
        try await pair.engine.deleteLocalData()
        #expect(try pair.here.strings("SELECT name FROM tally").isEmpty)
        try await pair.engine.start()
        pair.engine.stop()
        #expect(try pair.here.strings("SELECT name || count FROM tally") == ["hens3"])
    }

    @Test func triggersKnowWhatComesFromAPeer() async throws {
        try pair.here.execute(
            """
            CREATE TABLE written (text TEXT);
            CREATE TRIGGER note_written AFTER INSERT ON note WHEN NOT \(SyncEngine.isSynchronizingSQL) BEGIN
                INSERT INTO written VALUES (NEW.text);
            END
            """)
        try pair.here.execute(insert("one"))
        try pair.there.execute(insert("two"))
        try await pair.engine.syncChanges()
        #expect(try pair.here.strings("SELECT text FROM written") == ["one"])
        #expect(try await pair.here.read { db in try SyncEngine.isSynchronizing(db) } == false)
    }

    @Test func sharingIsAnErrorThatSaysSo() async throws {
        let engine = pair.engine
        func expect(_ operation: String, _ body: () async throws -> Void) async {
            await #expect {
                try await body()
            } throws: { error in
                (error as? SharingError)?.operation == operation
            }
        }
        await expect("share") { try await engine.share(record: 1) }
        await expect("share") { try await engine.share(record: 1) { $0["title"] = "Join" } }
        await expect("unshare") { try await engine.unshare(record: 1) }
        await expect("acceptShare") { try await engine.acceptShare(metadata: 1) }
    }

    @Test func aKeyThatIsNoUUIDIsRefusedByName() throws {
        try pair.here.execute("CREATE TABLE counted (id INTEGER PRIMARY KEY, text TEXT)")
        #expect {
            try SyncEngine(
                for: pair.here, tables: ["note", "counted"], transport: pair.transport,
                startImmediately: false)
        } throws: { error in
            (error as? SyncError)?.code == .unsuitableKey && "\(error)".contains("counted")
        }
    }

    @Test func integerKeysBecomeUUIDs() async throws {
        try pair.here.execute(
            """
            CREATE TABLE list (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, list INTEGER REFERENCES list, title TEXT);
            INSERT INTO list VALUES (1, 'home'); INSERT INTO item VALUES (7, 1, 'milk')
            """)
        try SyncEngine.migratePrimaryKeys(pair.here, tables: ["list", "item"])
        let row = try await pair.here.read { db throws in
            try Row.fetchOne(
                db,
                sql:
                    "SELECT list.title, item.title, length(item.id) FROM item JOIN list ON list.id = item.list"
            )
        }
        #expect(row == ["title": "home", "title": "milk", "length(item.id)": 36] || row?[1] == "milk")
        _ = try SyncEngine(
            for: pair.here, tables: ["list", "item"], transport: pair.transport, startImmediately: false)
    }
}
