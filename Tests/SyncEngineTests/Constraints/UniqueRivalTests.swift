import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// The indexes say the same about the rows in the way of another one as SQLite, when it is asked to replace them.
@Suite struct UniqueRivalTests {
    private static let schemas = [
        "name TEXT UNIQUE, a",
        "name TEXT COLLATE NOCASE UNIQUE, a INTEGER UNIQUE",
        "name, a NUMERIC, UNIQUE (a, name)",
        "name BLOB UNIQUE, a REAL UNIQUE",
        "name TEXT, a); CREATE UNIQUE INDEX i ON t (name COLLATE NOCASE, a",
    ]

    private static let values: [DatabaseValue] = [
        .null, 1.databaseValue, 2.databaseValue, (1.0).databaseValue, "1".databaseValue, "1.0".databaseValue,
        "a".databaseValue, "A".databaseValue, "b ".databaseValue, Data([0x61]).databaseValue,
        Data().databaseValue, 9_007_199_254_740_993.databaseValue, (9_007_199_254_740_992.0).databaseValue,
        "9007199254740993".databaseValue,
    ]

    private func rivals(_ found: [OwnedValue]?) -> Set<DatabaseValue>? {
        found.map { found in
            Set(
                found.map { rival in
                    switch rival.value {
                    case .blob(let bytes): Data(bytes).databaseValue
                    case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
                    default: .null
                    }
                })
        }
    }

    @Test(arguments: schemas.indices) func theIndexesSayTheSameAsSQLite(number: Int) throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(Self.schemas[number]))", tables: ["t"])
        var random = SimulationNumbers(seed: UInt64(number) + 1)
        let compared = try a.queue.write { db throws -> Int in
            let synced = try #require(try SyncedTable.loadAll(db).first { $0.name == "t" })
            let table = try AppliedTable(db, synced, columns: synced.columns)
            let indexed = try #require(try IndexedRivals(db, table))
            let probing = try UniqueRivals(db, table)
            defer { probing.finish() }
            var compared = 0
            for round in 0..<200 {
                try db.execute(sql: "DELETE FROM t")
                for row in 0..<6 {
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO t VALUES (?, ?, ?)",
                        arguments: [itemKey(row), random.element(Self.values), random.element(Self.values)])
                }
                let key = OwnedValue.make(itemKey(100 + round).databaseValue)
                let given = [random.element(Self.values), random.element(Self.values)].map {
                    OwnedValue.make($0)
                }
                try withExtendedLifetime((key, given)) {
                    let values = [(name: "name", value: given[0].value), (name: "a", value: given[1].value)]
                    let said = rivals(try indexed.rivals(RowKey(key.value), values))
                    let asked = rivals(try probing.probe(RowKey(key.value), values))
                    if let said {
                        #expect(said == asked, "round \(round)")
                        if !said.isEmpty { compared += 1 }
                    }
                }
            }
            return compared
        }
        #expect(compared > 0)
    }

    @Test func whatTheIndexesCanNotSayIsAskedOfSQLite() throws {
        for schema in [
            "name TEXT, a); CREATE UNIQUE INDEX i ON t (lower(name)",
            "name TEXT, a); CREATE UNIQUE INDEX i ON t (name) WHERE (a > 1",
            "name TEXT UNIQUE, a); CREATE INDEX i ON t (abs(a)",
            "name TEXT UNIQUE, a); CREATE TRIGGER u BEFORE INSERT ON t BEGIN SELECT 1; END; SELECT (1",
        ] {
            let stores = try TestStores()
            let a = try stores.create(
                schema: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(schema))", tables: ["t"])
            let isAsked = try a.queue.write { db throws in
                let synced = try #require(try SyncedTable.loadAll(db).first { $0.name == "t" })
                return try IndexedRivals(db, AppliedTable(db, synced, columns: synced.columns)) == nil
            }
            #expect(isAsked, "\(schema)")
        }
    }
}

extension UniqueRivalTests {
    /// The newest index is checked first, so that the UNIQUE value is what SQLite names.
    @Test func noRowGivesWayToOneForWhichAnOlderIndexFails() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: """
                CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, note TEXT, v INTEGER);
                """, tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO t VALUES (?, 'x', ?)", [itemKey(1), Int64.min])
        stores.clock.advance(milliseconds: 10)
        try b.execute("CREATE INDEX i ON t (abs(v)); CREATE UNIQUE INDEX u ON t (note)")
        try b.execute("INSERT INTO t VALUES (?, 'x', 1)", [itemKey(2)])
        try a.sync(b)
        try a.sync(b)
        #expect(try b.dump(["t"]).count == 1)
    }
}

/// Numbers that follow from a seed.
private struct SimulationNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func element<Element>(_ elements: [Element]) -> Element {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return elements[Int((state >> 33) % UInt64(elements.count))]
    }
}
