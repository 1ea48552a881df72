import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Replicas that declare a column with different types hold what its author wrote.
@Suite struct ColumnTypeTests {
    private func replica(_ stores: TestStores, _ name: String, _ type: String) throws -> TestReplica {
        let queue = try DatabaseQueue(path: stores.path(name), configuration: TestStores.configuration(name))
        try queue.write { try $0.execute(sql: "CREATE TABLE s (id BLOB PRIMARY KEY, v \(type), w)") }
        return try TestReplica(stores, name, queue, tables: ["s"])
    }

    /// Replicas of one database whose tables have another type each.
    private func replicas(_ types: [String], seed: UInt64 = 1) throws -> [TestReplica] {
        let stores = try TestStores(seed: seed)
        let first = try replica(stores, "0.db", types[0])
        var all = [first]
        for (number, type) in types.enumerated().dropFirst() {
            let other = try stores.clone(first, as: "\(number).db")
            try other.changeUnobserved(
                """
                DROP TABLE s;
                CREATE TABLE s (id BLOB PRIMARY KEY, v \(type), w);
                """)
            try other.synchronizer.track(["s"])
            all.append(other)
        }
        return all
    }

    /// The values as they are sent, by key.
    private func originals(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { db in
            let table = try #require(try SyncedTable.loadAll(db).first { $0.name == "s" })
            let reader = try ExportedTable(db, table)
            return try DatabaseValue.fetchAll(db, sql: "SELECT id FROM s ORDER BY id").map { id in
                let key = OwnedValue.make(id)
                return try withExtendedLifetime(key) {
                    try reader.load(key: RowKey(key.value), hasParkedValues: true)
                    defer { reader.finish() }
                    return "\(id) \(reader.value(0).databaseValue.storage)"
                }
            }
        }
    }

    @Test func aValueIsSentOnAsItsAuthorWroteIt() throws {
        let all = try replicas(["TEXT", "INTEGER", ""])
        try all[0].execute("INSERT INTO s VALUES (?, '5', 0)", [key(1)])
        try all[1].sync(all[0])
        #expect(try all[1].value("SELECT typeof(v) FROM s", as: String.self) == "integer")
        try all[2].sync(all[1])
        #expect(try all[2].value("SELECT typeof(v) FROM s", as: String.self) == "text")
        // An edit of another column, and one of the column itself.
        try all[1].execute("UPDATE s SET w = 1")
        try all[2].sync(all[1])
        #expect(try all[2].value("SELECT typeof(v) || w FROM s", as: String.self) == "text1")
        try all[1].execute("UPDATE s SET v = 6")
        try all[2].sync(all[1])
        #expect(try all[2].value("SELECT typeof(v) || v FROM s", as: String.self) == "integer6")
        try all[0].sync(all[1])
        #expect(try all[0].value("SELECT typeof(v) || v FROM s", as: String.self) == "text6")
        #expect(try originals(all[0]) == originals(all[2]))
    }

    @Test func whatAColumnMakesOfOthersValuesIsTold() throws {
        let all = try replicas(["TEXT", "INTEGER"])
        for number in 1...3 {
            try all[0].execute("INSERT INTO s VALUES (?, '5', 0)", [key(UInt8(number))])
        }
        try all[1].sync(all[0])
        let converted = try all[1].synchronizer.convertedColumns()
        #expect(
            converted == [
                ConvertedColumn(table: "s", column: "v", declaredType: "INTEGER", valueType: "text", count: 3)
            ])
        #expect(
            converted.first?.text.hasPrefix("column v is INTEGER here; 3 values of others are text") == true)
        #expect(try all[1].synchronizer.status().schemaRemarks.map(\.table) == ["s"])
        #expect(try all[0].synchronizer.convertedColumns().isEmpty)
        try all[1].execute("UPDATE s SET v = 7")
        _ = try all[1].sync(all[0])
        #expect(try all[1].synchronizer.convertedColumns().isEmpty)
        #expect(try all[0].synchronizer.convertedColumns().map(\.count) == [3])
    }

    @Test func aRowThatWaitedKeepsWhatItsAuthorWrote() throws {
        let all = try replicas(["TEXT", "INTEGER"])
        try all[0].execute("INSERT INTO s VALUES (?, '5', 0)", [key(1)])
        try all[1].changeUnobserved("DROP TABLE s")
        try all[1].sync(all[0])
        try all[1].changeUnobserved("CREATE TABLE s (id BLOB PRIMARY KEY, v INTEGER, w)")
        try all[1].synchronizer.track(["s"])
        #expect(try all[1].value("SELECT typeof(v) FROM s", as: String.self) == "integer")
        #expect(try originals(all[0]) == originals(all[1]))
    }

    /// What moves to a new identity gets other versions, and no value that was replaced comes back with them.
    @Test func aNewIdentityTellsWhatWasWrittenLast() throws {
        let all = try replicas(["TEXT", "INTEGER"])
        try all[0].execute("INSERT INTO s VALUES (?, '5', 0), (?, '6', 0)", [key(1), key(2)])
        try all[1].execute("INSERT INTO s VALUES (?, 0, 0)", [key(3)])
        try all[1].sync(all[0])
        let id = try all[1].replica()
        let known = try all[0].vector()[id]
        try all[1].execute("UPDATE s SET v = 7 WHERE id = ?", [key(1)])
        try all[1].peer.renewIdentity([Fork(replica: id, common: known)])
        try all[0].sync(all[1])
        #expect(
            try all[0].value("SELECT group_concat(v) FROM (SELECT v FROM s ORDER BY id)", as: String.self)
                == "7,6,0")
        #expect(try originals(all[0]) == originals(all[1]))
    }

    @Test func replicasThatDivergedByTheirTypesAreRepaired() throws {
        let all = try replicas(["TEXT", "INTEGER"])
        try all[0].execute("INSERT INTO s VALUES (?, '5', 0)", [key(1)])
        try all[1].sync(all[0])
        // As an older program left it.
        try all[1].queue.write { try $0.execute(sql: "DELETE FROM _sync_original") }
        #expect(try originals(all[0]) != originals(all[1]))
        let divergence = try all[1].synchronizer.compare(with: all[0].transport, repairing: true)
        #expect(divergence?.isRepaired == true)
        #expect(try originals(all[0]) == originals(all[1]))
    }

    private static let values = [
        "5", "5.0", "'5'", "' 5 '", "'5.0'", "'05'", "'1e2'", "'x'", "'2013-01-01'", "''", "x'35'", "NULL",
        "-0.0",
        "0.0", "1.5", "'1.5'", "9e999", "'9223372036854775808'", "9223372036854775807", "'+7'", "'.5'",
        "'5.'",
        "'0x10'", "1e15", "'-'", "'1e'", "'\u{A0}5'", "'1e400'", "123456789012345678",
        "'123456789.123456789'",
    ]

    @Test func aDefaultIsWhatTheColumnHolds() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            for type in ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB"] {
                for value in ["'5'", "5", "5.5", "5.0", "'2013-01-01'", "'x'", "x'35'", "'1e2'", "NULL"] {
                    try db.execute(sql: "CREATE TABLE t (v \(type), w); INSERT INTO t VALUES (\(value), 0)")
                    let sql = ColumnAffinity(type: type).converted("w")
                    let isSame = try Bool.fetchOne(
                        db,
                        sql:
                            "SELECT v IS x AND typeof(v) = typeof(x) FROM t, (SELECT \(sql) AS x FROM (SELECT \(value) AS w))"
                    )
                    #expect(isSame == true, "\(value) in \(type)")
                    try db.execute(sql: "DROP TABLE t")
                }
            }
        }
    }

    @Test func noConversionIsMissed() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            for type in ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "DATE"] {
                try db.execute(sql: "CREATE TABLE t (v \(type))")
                for value in Self.values {
                    try db.execute(sql: "DELETE FROM t; INSERT INTO t VALUES (\(value))")
                    let rows = try Row.fetchAll(db, sql: "SELECT \(value) UNION ALL SELECT v FROM t")
                    let (given, stored) = (
                        OwnedValue.make(rows[0].databaseValues[0]), OwnedValue.make(rows[1].databaseValues[0])
                    )
                    if given.value.compare(stored.value) != 0 {
                        #expect(
                            ColumnAffinity(type: type).mayConvert(given.value), "\(value) in \(type)")
                    }
                }
                try db.execute(sql: "DROP TABLE t")
            }
        }
    }

    @Test(arguments: 1...6) func replicasOfAnyTypesConvergeByWhatWasWritten(seed: Int) throws {
        let types = ["TEXT", "INTEGER", "REAL", "NUMERIC", ""]
        let random = TestEnvironment(seed: UInt64(seed)).environment
        func pick(_ count: Int) -> Int { Int(random.random() % UInt64(count)) }
        let all = try replicas((0..<3).map { _ in types[pick(types.count)] }, seed: UInt64(seed))
        for _ in 0..<60 {
            let number = pick(3)
            let replica = all[number]
            let value = Self.values[pick(Self.values.count)]
            let id = key(UInt8(1 + pick(4)))
            switch pick(6) {
            case 0: try replica.execute("DELETE FROM s WHERE id = ?", [id])
            case 1: try replica.execute("UPDATE s SET w = \(value) WHERE id = ?", [id])
            case 2: try replica.execute("UPDATE s SET v = \(value) WHERE id = ?", [id])
            case 3: try replica.execute("INSERT OR IGNORE INTO s VALUES (?, \(value), 0)", [id])
            default: try replica.sync(all[(number + 1 + pick(2)) % 3])
            }
        }
        for _ in 0..<2 {
            for (one, other) in [(0, 1), (1, 2), (0, 2)] {
                #expect(try all[one].sync(all[other]).divergence == nil)
            }
        }
        let sent = try all.map { try originals($0) }
        #expect(sent[0] == sent[1])
        #expect(sent[1] == sent[2])
        for (one, other) in [(0, 1), (1, 2)] {
            let transport = all[other].transport
            #expect(try all[one].synchronizer.compare(with: transport) == nil)
        }
    }
}
