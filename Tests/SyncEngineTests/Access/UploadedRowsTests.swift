import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What devices bring that may write some rows of a table only. Nobody holds their programs to anything.
@Suite struct UploadedRowsTests {
    private static let device = Identifier128(high: 7, low: 7)

    /// A hub with rows 1 and 2 of the device, 3 and 4 elsewhere, and 5 and 6 deleted, of the device and elsewhere.
    private func hub(_ stores: TestStores, schema: String = rowScopeSchema) throws -> (
        TestReplica, AccessBounds
    ) {
        let hub = try stores.create("hub.db", schema: schema, tables: ["item"])
        for (number, value) in ["a", "b", "c", "d", "a", "c"].enumerated() {
            try hub.add(number + 1, .text(value), x: 10, y: 10)
        }
        _ = try hub.peer.greet()
        try hub.execute("DELETE FROM item WHERE x = 10 AND id IN (?, ?)", [itemKey(5), itemKey(6)])
        _ = try hub.peer.greet()
        stores.clock.advance(milliseconds: 1000)
        let scope = SyncScope.rows(of: "item", where: "scope", in: ["a", "b"])
        return (hub, try #require(try hub.synchronizer.bounds(of: scope)))
    }

    private func stamp(_ stores: TestStores, _ sequence: Int64 = 1, replica: Int = 0, age: Int64 = 0)
        -> WireStamp
    {
        let now = stores.clock.environment.milliseconds()
        return WireStamp(timestamp: (now - age) << 16, replica: replica, sequence: sequence)
    }

    /// Applies a bundle, and says what its refusal was. A refusal leaves nothing behind.
    private func refusal(_ forgery: Forgery, _ hub: TestReplica, _ bounds: AccessBounds) throws -> SyncError?
    {
        let before = try hub.wholeFile()
        do {
            try hub.take(forgery, within: bounds)
            return nil
        } catch let error as SyncError {
            #expect(try hub.wholeFile() == before)
            #expect(!error.message.contains("'c'") && !error.message.contains("\"c\""))
            return error
        }
    }

    private func rows(_ stores: TestStores, sequence: Int64 = 1) -> (
        inside: [String: Forgery.Row], outside: [String: Forgery.Row]
    ) {
        let stamp = stamp(stores, sequence)
        typealias Row = Forgery.Row
        func inserted(_ number: Int, _ value: ScopeValue?, life: Int64 = 1) -> Row {
            Row(number: number, life: life, base: stamp, values: value.map { [0: $0, 1: 1] } ?? [1: 1])
        }
        func written(_ number: Int, _ column: Int, _ value: ScopeValue, _ stamp: WireStamp) -> Row {
            Row(number: number, cells: [(column, stamp, value)])
        }
        let inside = [
            "a new row": inserted(20, "a"), "another value": written(1, 1, 5, stamp),
            "a move between own values": written(1, 0, "b", stamp),
            "a deletion": Row(number: 1, life: 2, base: stamp),
            "a row that is there, written as a whole": inserted(1, "b"),
            "a row that came and went": Row(number: 20, life: 2, base: stamp),
            "a deletion of what is deleted": Row(number: 5, life: 2, base: stamp),
            "a change of what was deleted meanwhile": written(5, 1, 5, stamp),
            "a row that comes again": inserted(5, "a", life: 3),
            "a row that comes again at once": inserted(1, "a", life: 3),
        ]
        let outside = [
            "a new row": inserted(21, "c"), "a new row without a value": inserted(21, nil),
            "a value of another type": inserted(21, .blob(Array("a".utf8))),
            "another value": written(3, 1, 5, stamp),
            "a value that is late": written(3, 1, 5, self.stamp(stores, age: 100_000)),
            "a deletion": Row(number: 3, life: 2, base: stamp), "a move out": written(1, 0, "c", stamp),
            "a move out into NULL": written(1, 0, .null, stamp), "a move in": written(3, 0, "a", stamp),
            "a move elsewhere": written(3, 0, "d", stamp), "the key of another row": inserted(3, "a"),
            "the key of another row in a later life": inserted(3, "a", life: 3),
            "a row that comes again elsewhere": inserted(5, "c", life: 3),
            "a row that is there, without a value": inserted(1, nil),
            "in another's name": written(3, 1, 5, self.stamp(stores, 1, replica: 1)),
            "a move in another's name": written(1, 0, "c", self.stamp(stores, 1, replica: 1)),
        ]
        return (inside, outside)
    }

    @Test func whatADeviceMayWriteIsApplied() throws {
        let stores = try TestStores()
        let (hub, bounds) = try hub(stores)
        let names = rows(stores).inside.keys.sorted()
        for index in names.indices {
            for number in [1, 5] { try hub.add(100 * index + 100 + number, "a", x: 10) }
            _ = try hub.peer.greet()
            try hub.execute("DELETE FROM item WHERE id = ?", [itemKey(100 * index + 105)])
        }
        stores.clock.advance(milliseconds: 1000)
        for (index, name) in names.enumerated() {
            var row = try #require(rows(stores, sequence: Int64(1000 + index)).inside[name])
            row.number += 100 * index + 100
            let forgery = try Forgery(hub, Self.device, [row], upTo: Int64(1000 + index))
            #expect(try refusal(forgery, hub, bounds) == nil, "\(name)")
        }
        #expect(try hub.problems() == [])
    }

    @Test func nothingElseIsWritten() throws {
        let stores = try TestStores()
        let (hub, bounds) = try hub(stores)
        let good = Forgery.Row(number: 20, base: stamp(stores), values: [0: "a"])
        for (name, row) in rows(stores).outside.sorted(by: { $0.key < $1.key }) {
            var forgery = try Forgery(hub, Self.device, [good, row])
            forgery.facts.parts[0].target[forgery.replicas[1]] =
                row.cells.contains { $0.stamp.replica == 1 } ? 1 : 0
            let error = try refusal(forgery, hub, bounds)
            #expect(error?.code == .outsideScope, "\(name): \(error as Any)")
            let words = error?.message ?? ""
            let key = RowKeyText.text(itemKey(row.number).databaseValue)
            #expect(
                words.contains("row \(key) of table item") || words.contains("another replica"), "\(name)")
            #expect(words.contains("table item"))
            #expect(words.contains("column scope") || words.contains("another replica"), "\(name)")
        }
        // Without them, the rest of the bundle is taken; and everything is, when the device has no bounds.
        #expect(try refusal(Forgery(hub, Self.device, [good]), hub, bounds) == nil)
        let leave = Forgery.Row(number: 1, base: stamp(stores), isLeave: true)
        #expect(try refusal(Forgery(hub, Self.device, [leave]), hub, bounds)?.code == .invalidBundle)
        let move = try #require(rows(stores).outside["a move out"])
        try hub.take(Forgery(hub, Self.device, [move]), within: nil)
    }

    @Test func whatOthersWroteMayComeBackAndChangesNothing() throws {
        let stores = try TestStores()
        let (hub, bounds) = try hub(stores)
        let row = try #require(
            try hub.queue.read {
                try Row.fetchOne(
                    $0, sql: "SELECT hlc, oseq FROM _sync_row WHERE pk = ?", arguments: [itemKey(3)])
            })
        let stamp = WireStamp(
            timestamp: try row.decode(atIndex: 0), replica: 1, sequence: try row.decode(atIndex: 1))
        var forgery = try Forgery(
            hub, Self.device, [.init(number: 3, base: stamp, values: [0: "c", 1: 10, 2: 10])])
        forgery.facts.parts[0].target[forgery.replicas[1]] = stamp.sequence
        #expect(try refusal(forgery, hub, bounds) == nil)
        // The same stamp with something else in it changes nothing, wherever the row is.
        forgery.rows[0].values[1] = 11
        #expect(try refusal(forgery, hub, bounds) == nil)
        let x = try hub.queue.read {
            try Int.fetchOne($0, sql: "SELECT x FROM item WHERE id = ?", arguments: [itemKey(3)])
        }
        #expect(x == 10)
    }

    /// Of one write there is one value, and of one number one change. Where a device says something else to its server
    /// than it said before, nobody would ever hear of it.
    @Test(arguments: [true, false]) func nobodySaysTwoThingsUnderOneStamp(hasRowBounds: Bool) throws {
        let stores = try TestStores()
        let (hub, rowBounds) = try hub(stores)
        let tableBounds = try #require(try hub.synchronizer.bounds(of: .tables(["item"])))
        let bounds = hasRowBounds ? rowBounds : tableBounds
        let version = try #require(
            try hub.queue.read {
                try Row.fetchOne(
                    $0, sql: "SELECT hlc, oseq FROM _sync_row WHERE pk = ?", arguments: [itemKey(1)])
            })
        let ofHub = WireStamp(
            timestamp: try version.decode(atIndex: 0), replica: 1, sequence: try version.decode(atIndex: 1))
        let before = try hub.dump(["item"])
        var forgery = try Forgery(
            hub, Self.device, [.init(number: 1, base: ofHub, values: [0: "b", 1: 99, 2: 99])])
        forgery.facts.parts[0].target[forgery.replicas[1]] = ofHub.sequence
        #expect(try refusal(forgery, hub, bounds) == nil)
        #expect(try hub.dump(["item"]) == before)
        // Its own write.
        let own = stamp(stores, 4)
        forgery = try Forgery(hub, Self.device, [.init(number: 20, base: own, values: [0: "a", 1: 5, 2: 5])])
        #expect(try refusal(forgery, hub, bounds) == nil)
        let after = try hub.dump(["item"])
        forgery.rows[0].values[1] = 6
        forgery.facts.parts[0].target[Self.device] = 1001
        #expect(try refusal(forgery, hub, bounds) == nil)
        #expect(try hub.dump(["item"]) == after)
        // A number that was used before, of a row and of a column.
        stores.clock.advance(milliseconds: 10)
        forgery.facts.parts[0].target[Self.device] = 1002
        for row in [
            Forgery.Row(number: 20, base: stamp(stores, 3), values: [0: "a", 1: 7, 2: 7]),
            .init(number: 20, cells: [(1, stamp(stores, 1001), 8)]),
            .init(number: 20, life: 2, base: stamp(stores, 900)),
        ] {
            forgery.rows = [row]
            #expect(try refusal(forgery, hub, bounds)?.code == .outsideScope)
        }
        forgery.rows = [.init(number: 20, cells: [(1, stamp(stores, 1002), 8)])]
        #expect(try refusal(forgery, hub, bounds) == nil)
        let x = try hub.queue.read {
            try Int.fetchOne($0, sql: "SELECT x FROM item WHERE id = ?", arguments: [itemKey(20)])
        }
        #expect(x == 8)
    }

    /// How columns are merged is for everybody, and can't be taken back.
    @Test func aDeviceOfSomeTablesDeclaresNoPolicies() throws {
        let stores = try TestStores()
        let (hub, _) = try hub(stores)
        let bounds = try #require(try hub.synchronizer.bounds(of: .tables(["item"])))
        let good = Forgery.Row(number: 20, base: stamp(stores), values: [0: "a"])
        for (name, words) in [
            (PolicyDeclarations.policies, ["x", "counter", "", "1", "\(Self.device)"]),
            (PolicyDeclarations.policies, ["x", "custom", "evil", "1", "\(Self.device)"]),
            (PolicyDeclarations.shares, ["x", "x+\(Self.device)", "\(Self.device)"]),
        ] {
            var forgery = try Forgery(hub, Self.device, [good])
            forgery.tables.append(.init(name: name, key: "item", columns: words))
            #expect(try refusal(forgery, hub, bounds)?.code == .outsideScope, "\(words)")
        }
        var forgery = try Forgery(hub, Self.device, [good])
        forgery.tables[0] = .init(name: "item", key: "id", columns: ["scope", "x", "y", "x+\(Self.device)"])
        #expect(try refusal(forgery, hub, bounds)?.code == .outsideScope)
        #expect(try hub.value("SELECT count(*) FROM _sync_policy", as: Int.self) == 0)
    }

    @Test func theValueIsTheOneThatIsStored() throws {
        for (column, value, isInside) in [
            ("scope TEXT DEFAULT 'a'", nil, true), ("scope TEXT DEFAULT 'c'", nil, false),
            ("scope TEXT DEFAULT ('c' || '')", nil, false), ("scope TEXT", 5, false),
            ("scope TEXT", "a", true),
            ("scope TEXT COLLATE NOCASE", "A", false),
        ] as [(String, ScopeValue?, Bool)] {
            let stores = try TestStores()
            let schema = "CREATE TABLE item (id BLOB PRIMARY KEY, \(column), x INTEGER, y INTEGER)"
            let (hub, bounds) = try hub(stores, schema: schema)
            let row = Forgery.Row(number: 20, base: stamp(stores), values: value.map { [0: $0] } ?? [1: 1])
            let error = try refusal(Forgery(hub, Self.device, [row]), hub, bounds)
            #expect((error == nil) == isInside, "\(column) \(value as Any)")
        }
        // A number that comes as text is text, whatever the column here makes of it: replicas agree on what was written.
        let stores = try TestStores()
        let schema = "CREATE TABLE item (id BLOB PRIMARY KEY, scope INTEGER, x INTEGER, y INTEGER)"
        let (hub, _) = try hub(stores, schema: schema)
        let bounds = try #require(
            try hub.synchronizer.bounds(of: .rows(of: "item", where: "scope", in: [5])))
        for (value, isInside) in [("5", false), (5, true)] as [(ScopeValue, Bool)] {
            let row = Forgery.Row(number: 20, base: stamp(stores), values: [0: value])
            #expect((try refusal(Forgery(hub, Self.device, [row]), hub, bounds) == nil) == isInside)
        }
    }

    @Test func rowsThatWaitAreWhereTheirValuesSay() throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE item (id BLOB PRIMARY KEY, scope, x INTEGER CHECK (x < 100), y INTEGER)"
        let (hub, bounds) = try hub(stores, schema: schema)
        let other = Identifier128(high: 8, low: 8)
        let waiting = [(30, "a"), (31, "c")].map { number, value in
            Forgery.Row(number: number, base: stamp(stores), values: [0: .text(value), 1: 200])
        }
        #expect(try hub.take(Forgery(hub, other, waiting), within: nil).parkedCount == 2)
        stores.clock.advance(milliseconds: 10)
        func written(_ number: Int) -> Forgery.Row { .init(number: number, cells: [(1, stamp(stores), 5)]) }
        #expect(try refusal(Forgery(hub, Self.device, [written(31)]), hub, bounds)?.code == .outsideScope)
        #expect(try refusal(Forgery(hub, Self.device, [written(30)]), hub, bounds) == nil)
        #expect(
            try hub.queue.read { try Int.fetchOne($0, sql: "SELECT x FROM item WHERE scope = 'a' AND x = 5") }
                == 5)
        // And a row of the device that has to wait is still one of the device's.
        let row = Forgery.Row(number: 32, base: stamp(stores, 2), values: [0: "c", 1: 300])
        #expect(try refusal(Forgery(hub, Self.device, [row]), hub, bounds)?.code == .outsideScope)
    }

    @Test func aHeaderCanNotMoveRowsOrSpeakForOthers() throws {
        let stores = try TestStores()
        let (hub, bounds) = try hub(stores)
        let good = Forgery.Row(number: 20, base: stamp(stores), values: [0: "a"])
        let (own, other) = (try hub.synchronizer.identity().replica, Identifier128(high: 9, low: 9))
        func names(_ kind: String, _ key: String, _ names: String...) -> BundleHeader.Table {
            BundleHeader.Table(name: kind, key: key, columns: names)
        }
        let share = "scope+\(Self.device)"
        let cases: [(String, (inout Forgery) -> Void)] = [
            (
                "another name of the table",
                { $0.tables.append(names(NameDeclarations.tableNames, "item", "item", "invoice")) }
            ),
            (
                "another name of the scope column",
                { $0.tables.append(names(NameDeclarations.columnNames, "item", "scope", "budget")) }
            ),
            (
                "two columns as one",
                {
                    $0.tables[0] = .init(name: "item", key: "id", columns: ["scope", "x", "z"])
                    $0.tables.append(names(NameDeclarations.columnNames, "item", "z", "scope"))
                }
            ),
            (
                "the scope column under another name",
                {
                    $0.tables[0] = .init(name: "item", key: "id", columns: ["z", "x", "y"])
                    $0.tables.append(names(NameDeclarations.columnNames, "item", "z", "scope"))
                }
            ),
            (
                "a policy",
                {
                    $0.tables.append(
                        names(
                            PolicyDeclarations.policies, "item", "scope", "counter", "", "1", "\(Self.device)"
                        ))
                }
            ),
            (
                "a policy of another column",
                {
                    $0.tables.append(
                        names(PolicyDeclarations.policies, "item", "x", "counter", "", "1", "\(Self.device)"))
                }
            ),
            (
                "a share",
                { $0.tables[0] = .init(name: "item", key: "id", columns: ["scope", "x", "y", share]) }
            ),
            ("deletions that were forgotten", { $0.facts.parts[0].floor = VersionVector([own: 1]) }),
            ("changes of others", { $0.facts.parts[0].target[other] = 5 }),
            ("more changes of the hub", { $0.facts.parts[0].target[own] = 1000 }),
            ("changes of others in all tables", { $0.target = [other: 5] }),
            (
                "a repair",
                {
                    $0.facts.isRepair = true
                    $0.facts.parts = []
                    $0.target = [Self.device: 1000]
                }
            ),
        ]
        for (name, change) in cases {
            var forgery = try Forgery(hub, Self.device, [good])
            change(&forgery)
            let error = try refusal(forgery, hub, bounds)
            #expect(error?.code == .outsideScope, "\(name): \(error as Any)")
        }
        // It invents no columns, no tables and no other names of them.
        for table in [
            BundleHeader.Table(name: "item", key: "id", columns: ["scope", "x", "y", "color"]),
            .init(name: "note", key: "id", columns: ["text"]), .init(name: "salary", key: "id", columns: []),
        ] {
            var forgery = try Forgery(hub, Self.device, [good])
            forgery.tables = table.name == "item" ? [table] : forgery.tables + [table]
            #expect(try refusal(forgery, hub, bounds)?.code == .outsideScope)
        }
        for declaration in [
            names(NameDeclarations.tableNames, "item", "item", "salary"),
            names(NameDeclarations.columnNames, "item", "x", "color"),
        ] {
            var forgery = try Forgery(hub, Self.device, [good])
            forgery.tables.append(declaration)
            #expect(try refusal(forgery, hub, bounds)?.code == .outsideScope)
        }
        // What it says of other replicas is not heard.
        var liar = try Forgery(hub, Self.device, [good], upTo: 1001)
        liar.facts.known = [other: VersionVector([own: 1])]
        liar.facts.retirements = [
            .init(replica: other, milliseconds: 1, reason: .requested),
            .init(replica: own, milliseconds: 1, reason: .unseen),
        ]
        #expect(try refusal(liar, hub, bounds) == nil)
        #expect(try hub.synchronizer.identity().replica == own)
        let counts = try hub.queue.read { db in
            try ["_sync_retired", "_sync_known"].map {
                try Int.fetchOne(
                    db,
                    sql:
                        "SELECT count(*) FROM main.\($0) WHERE sid NOT IN (SELECT sid FROM _sync_replica WHERE rid = ?)",
                    arguments: [Self.device.data]) ?? 0
            }
        }
        #expect(counts == [0, 0])
    }

    @Test func aDeviceGoesOnWithCountersAndAfterARenaming() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.synchronizer.setPolicies([.counter("item", "x")])
        for number in 1...2 { try hub.add(number, number == 1 ? "a" : "c", x: 10) }
        let bounds = try #require(
            try hub.synchronizer.bounds(of: .rows(of: "item", where: "scope", in: ["a", "b"])))
        let leaf = try stores.clone(hub, as: "leaf.db")
        try leaf.choose(["a", "b"], of: hub)
        try leaf.share(hub)
        func push() throws {
            stores.clock.advance(milliseconds: 10)
            _ = try leaf.peer.greet()
            let frames = try leaf.bundle(TransferRequest(base: hub.peer.greet().vector))
            _ = try hub.take(frames, within: bounds)
        }
        try leaf.execute("UPDATE item SET x = x + 5 WHERE scope = 'a'")
        try push()
        try hub.execute("UPDATE item SET x = x + 1")
        try leaf.execute("UPDATE item SET x = x + 5, scope = 'b' WHERE scope = 'a'")
        try hub.execute("ALTER TABLE item RENAME TO thing")
        try push()
        let sums = try hub.queue.read {
            try String.fetchAll($0, sql: "SELECT scope || x FROM thing ORDER BY id")
        }
        #expect(sums == ["b21", "c11"])
        try leaf.execute("UPDATE item SET scope = 'c'")
        #expect(throws: SyncError.self) { try push() }
    }

    @Test func boundsThatNobodyCanTellLetNothingThrough() throws {
        let stores = try TestStores()
        let (hub, bounds) = try hub(stores)
        let good = Forgery.Row(number: 20, base: stamp(stores), values: [0: "a"])
        try hub.execute("ALTER TABLE item RENAME TO item_old")
        try hub.execute("CREATE TABLE item (id BLOB PRIMARY KEY, x INTEGER, y INTEGER)")
        try hub.execute("DROP TABLE item_old")
        #expect(throws: SyncError.self) { try hub.take(Forgery(hub, Self.device, [good]), within: bounds) }
        for scope in [
            SyncScope.rows(of: "item", where: "nothing", in: ["a"]),
            .rows(of: "item", where: "id", in: ["a"]),
            .rows(of: "item", where: "x", in: []), .rows(of: "unheard", where: "x", in: ["a"]),
            .tables(["unheard"]), .tables([]),
        ] {
            #expect(throws: SyncError.self, "\(scope)") { try hub.synchronizer.bounds(of: scope) }
        }
    }

    /// A server can name rows that are not there, and others each time.
    @Test func aServerThatMakesRowsUpIsNotAskedForEver() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let phone = try stores.clone(hub, as: "phone.db")
        try phone.execute("INSERT INTO item (id, scope) VALUES (?, 'a')", [itemKey(1)])
        var count = 0
        let liar = FaultyPeer(
            hub.peer,
            meanwhile: (
                .received,
                {
                    count += 1
                    var error = SyncError(.outsideScope, "no")
                    error.rows = [
                        StateRows(
                            table: ["item"], keys: [.init(bytes: Array(itemKey(1000 + count)), isText: false)]
                        )
                    ]
                    throw error
                }
            ))
        let driver = SessionDriver(
            local: phone.peer, remote: liar, remoteName: "liar", tables: nil, progress: nil)
        let report = try driver.run(.both)
        #expect(report.refusal != nil && report.refusal?.rows == [] && report.pushed == nil)
        #expect(count == 100)
        #expect(try phone.value("SELECT count(*) FROM item", as: Int.self) == 1)
        try expectHealthy([phone])
    }
}
