import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// However long a chain of rows is, each of which refers to the one before, it is hidden and shown link by link, and no link
/// takes reading all of them.
@Suite struct ChainTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let schema = "CREATE TABLE item (id BLOB PRIMARY KEY, prior BLOB REFERENCES item);"

    /// The statements that a replica runs meanwhile. SQLite may tell of one twice.
    private func statementsRun(by replica: TestReplica, _ body: () throws -> Void) throws -> [String] {
        var statements: [String] = []
        replica.queue.inDatabase { db in db.trace { statements.append("\($0)") } }
        try body()
        replica.queue.inDatabase { $0.trace(options: []) }
        return statements
    }

    private func hiddenCount(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM _sync_hidden", as: Int.self)
    }

    private func rowCount(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM item", as: Int.self)
    }

    /// Two replicas, of which the first deleted the row to which the second appended a chain.
    private func pair(_ count: Int, index: String) throws -> (TestReplica, TestReplica) {
        let a = try stores.create(schema: Self.schema + index, tables: ["item"])
        try a.execute("INSERT INTO item VALUES (CAST(printf('%016d', 1) AS BLOB), NULL)")
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM item")
        try b.execute(
            """
            INSERT INTO item
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            SELECT CAST(printf('%016d', i) AS BLOB), CAST(printf('%016d', i - 1) AS BLOB) FROM n
            """)
        return (a, b)
    }

    @Test(arguments: ["", "CREATE INDEX item_prior ON item (prior);"])
    func aLongChainGoesAndComesBackWithFewReadingsOfAllOfIt(index: String) throws {
        let count = 1000
        let (a, b) = try pair(count, index: index)
        for (replica, other) in [(a, b), (b, a)] {
            let statements = try statementsRun(by: replica) { try replica.sync(other, .pull) }
            let hidden = try hiddenCount(replica)
            #expect(hidden == count - 1)
            let readings = statements.count { $0.contains("FROM main.\"item\" AS c WHERE c.\"prior\" IN") }
            let isListed = statements.contains { $0.contains("CREATE TEMP TABLE _sync_child") }
            // An index finds the child of each link.
            #expect(index.isEmpty ? (1...4).contains(readings) : readings > count / 2, "\(readings)")
            #expect(isListed == index.isEmpty)
        }
        try a.execute("INSERT INTO item VALUES (CAST(printf('%016d', 1) AS BLOB), NULL)")
        for (replica, other) in [(b, a), (a, b)] {
            let statements = try statementsRun(by: replica) { try replica.sync(other, .pull) }
            let shown = try rowCount(replica)
            #expect(shown == count)
            let wakings = statements.count { $0.contains("INTO temp._sync_woken") }
            // The other one may have settled the second store when it pulled from it.
            #expect(wakings <= 40 && (wakings > 0 || replica === a), "\(wakings)")
        }
        #expect(try a.dump(["item"]) == b.dump(["item"]))
        #expect(try a.problems() == [])
        #expect(try b.problems() == [])
    }

    /// Children by a key that takes spellings for the same, which no index of the rows that wait knows.
    @Test func childrenOfManyParentsThatWaitComeWithThem() throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE root (id BLOB PRIMARY KEY);
                CREATE TABLE p (id TEXT COLLATE NOCASE PRIMARY KEY, root BLOB REFERENCES root);
                CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p);
                """, tables: ["root", "p", "c"])
        try a.execute("INSERT INTO root VALUES (?)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM root")
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
        let text = "printf('%08d-abcd-7abc-8abc-abcdefabcdef', i)"
        try b.execute(
            "INSERT INTO p \(numbers) SELECT \(text), x'\(String(repeating: "01", count: 16))' FROM n")
        try b.execute(
            "INSERT INTO c \(numbers) SELECT CAST(printf('%016d', i) AS BLOB), upper(\(text)) FROM n")
        try a.sync(b)
        #expect(try hiddenCount(a) == 400)
        try a.execute("INSERT INTO root VALUES (?)", [key(1)])
        let statements = try statementsRun(by: b) { try b.sync(a, .pull) }
        let wakings = statements.count { $0.contains("INTO temp._sync_woken") }
        #expect((1...40).contains(wakings), "\(wakings)")
        for replica in [a, b] {
            try replica.sync(replica === a ? b : a)
            #expect(try hiddenCount(replica) == 0)
            #expect(try replica.value("SELECT count(*) FROM c", as: Int.self) == 200)
            #expect(try replica.problems() == [])
        }
    }

    /// No index finds the children of a row here.
    @Test func aTableOfChildrenIsReadOnlyWhenAParentGoes() throws {
        let a = try stores.create(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY, code INTEGER UNIQUE, name);
                CREATE TABLE c (id BLOB PRIMARY KEY, p BLOB REFERENCES p ON DELETE CASCADE, name);
                CREATE TABLE d (id BLOB PRIMARY KEY, code INTEGER REFERENCES p (code) ON DELETE CASCADE);
                CREATE TABLE other (id BLOB PRIMARY KEY, name);
                """, tables: ["p", "c", "d", "other"])
        for number: UInt8 in 1...3 {
            try a.execute("INSERT INTO p VALUES (?, ?, 'p')", [key(number), number])
            try a.execute("INSERT INTO c VALUES (?, ?, 'c')", [key(10 + number), key(number)])
            try a.execute("INSERT INTO d VALUES (?, ?)", [key(20 + number), number])
        }
        let b = try stores.clone(a, as: "b.db")
        /// How often the children are read by one key, and by the other.
        func readings(_ edit: String) throws -> [Int] {
            try a.execute(edit)
            let statements = try statementsRun(by: b) { try b.sync(a, .pull) }
            #expect(try a.dump(["p", "c", "d", "other"]) == b.dump(["p", "c", "d", "other"]))
            return ["c", "d"].map { table in
                statements.count { $0.contains("FROM main.\"\(table)\" AS c WHERE") }
            }
        }
        #expect(try readings("INSERT INTO other VALUES (\(k(40)), 'other')") == [0, 0])
        #expect(try readings("UPDATE c SET name = 'edited'; DELETE FROM d WHERE code = 3") == [0, 0])
        // What the column held before that the second key refers to is not known.
        let onEdit = try readings("UPDATE p SET name = 'edited'; INSERT INTO p VALUES (\(k(4)), 4, 'new')")
        #expect(onEdit[0] == 0 && onEdit[1] > 0, "\(onEdit)")
        #expect(try readings("UPDATE other SET name = 'edited'") == [0, 0])
        try b.execute("INSERT INTO c VALUES (?, ?, 'new')", [key(14), key(1)])
        try a.execute("DELETE FROM p WHERE id = ?", [key(1)])
        let statements = try statementsRun(by: b) { try b.sync(a, .pull) }
        let count = statements.count { $0.contains("FROM main.\"c\" AS c WHERE") }
        #expect((1...2).contains(count), "\(count)")
        #expect(try hiddenCount(b) == 1)
        #expect(try b.problems() == [])
    }

    // MARK: The time of a device

    /// Links by a device, the first of each thousand of which begins a chain.
    private func links(_ numbers: [Int], upTo sequence: Int64, of hub: TestReplica) throws -> Forgery {
        let now = stores.clock.environment.milliseconds()
        let rows = numbers.map { number in
            Forgery.Row(
                number: number,
                base: WireStamp(timestamp: now << 16, replica: 0, sequence: sequence - Int64(number)),
                values: [0: number % 1000 == 1 ? .null : .blob(Array(itemKey(number - 1)))])
        }
        var forgery = try Forgery(hub, Identifier128(high: 7, low: 7), rows, upTo: sequence)
        forgery.tables = [.init(name: "item", key: "id", columns: ["prior"])]
        return forgery
    }

    /// Applies a bundle of a device with bounds, whose time ends with so many looks at the clock.
    private func take(
        _ forgery: Forgery, _ hub: TestReplica, looks: Int, isIndivisible: Bool = false
    ) throws {
        let table = try #require(
            try hub.value("SELECT tbl FROM _sync_table WHERE name = 'item'", as: Int64.self))
        let clock = CountingClock(looks)
        let terms = UploadTerms(
            bounds: AccessBounds(tables: [table]), isIndivisible: isIndivisible,
            startClock: { { clock.isOver() } })
        let frames = try forgery.frames()
        func handOut(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
            for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
        }
        _ = try hub.synchronizer.applyUpload(on: { _ in terms }, handOut)
    }

    private func server() throws -> TestReplica {
        let hub = try stores.create("hub.db", schema: Self.schema, tables: ["item"])
        _ = try hub.peer.greet()
        stores.clock.advance(milliseconds: 1000)
        return hub
    }

    /// The time that a device has ends while its rows are hidden and shown, as while they come.
    @Test func theTimeOfADeviceEndsWhileItsChainIsHiddenOrShown() throws {
        let count = 200
        let hub = try server()
        let chain = try links(Array(2...count), upTo: 500, of: hub)
        let before = try hub.wholeFile()
        // Enough for all rows to come.
        let onHiding = try code { try take(chain, hub, looks: count + 50) }
        #expect(onHiding == .tooMuchAtOnce)
        #expect(try hub.wholeFile() == before)
        try take(chain, hub, looks: 10 * count)
        #expect(try hiddenCount(hub) == count - 1)
        let heads = try links([1, 1001], upTo: 2500, of: hub)
        let onShowing = try code { try take(heads, hub, looks: 50) }
        #expect(onShowing == .tooMuchAtOnce)
        #expect(try hiddenCount(hub) == count - 1)
        try take(heads, hub, looks: 10 * count)
        #expect(try hiddenCount(hub) == 0)
        #expect(try rowCount(hub) == count + 1)
        #expect(try hub.problems() == [])
    }

    /// Or else nothing that the device writes would come any more.
    @Test(arguments: [false, true])
    func whatCannotBeDividedIsHiddenAndShownHoweverLongThatTakes(isOneRow: Bool) throws {
        let count = 200
        let hub = try server()
        let chain = try links(Array(2...count), upTo: 500, of: hub)
        // The rows themselves may take no longer than any others.
        let onComing = try code { try take(chain, hub, looks: count / 2, isIndivisible: true) }
        #expect(onComing == .tooMuchAtOnce)
        try take(chain, hub, looks: count, isIndivisible: true)
        #expect(try hiddenCount(hub) == count - 1)
        let heads = try links(isOneRow ? [1] : [1, 1001], upTo: 2500, of: hub)
        try take(heads, hub, looks: isOneRow ? 0 : 1, isIndivisible: !isOneRow)
        #expect(try hiddenCount(hub) == 0)
        #expect(try rowCount(hub) == count + (isOneRow ? 0 : 1))
        #expect(try hub.problems() == [])
    }
}
