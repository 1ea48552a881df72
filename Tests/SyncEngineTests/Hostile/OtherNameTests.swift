import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Other names that peers give columns, beside those that the columns had here.
@Suite struct OtherNameTests {
    private let device = AdmissionTests.replica(1_000_000)
    private let stores: TestStores
    private let hub: TestReplica

    init() throws {
        stores = try TestStores()
        hub = try stores.createWithScopes()
    }

    /// Says that a column has other names.
    private func give(_ column: String, _ others: [String]) throws {
        var forgery = try Forgery(hub, device, [], upTo: 1)
        forgery.tables = [
            .init(name: "item", key: "id", columns: ["scope", column]),
            .init(name: NameDeclarations.columnNames, key: "item", columns: [column] + others),
        ]
        try hub.take(forgery, within: nil)
    }

    /// Sends a row whose value has the name of a column.
    private func send(_ column: String, _ number: Int) throws {
        let sequence = Int64(10 * number)
        let stamp = WireStamp(timestamp: sequence, replica: 0, sequence: sequence)
        var forgery = try Forgery(
            hub, device,
            [.init(number: number, base: stamp, values: [0: "a", 1: .integer(Int64(number))])], upTo: sequence
        )
        forgery.tables = [.init(name: "item", key: "id", columns: ["scope", column])]
        try hub.take(forgery, within: nil)
    }

    private func otherNames() throws -> [String] {
        try hub.queue.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT a.name FROM _sync_alias AS a JOIN _sync_column AS c ON c.tbl = a.tbl AND c.col = a.col
                    WHERE c.name IN ('x', 'z') ORDER BY a.name
                    """)
        }
    }

    private func renameColumn() throws {
        try hub.migrate("rename") { db in try db.alter(table: "item") { $0.rename(column: "x", to: "z") } }
    }

    @Test func aUnionLeavesRoomForTheNamesOfHere() throws {
        let most = AdmissionLimits.otherNameCountMax
        try give("x", (0..<most).map { "n\($0)" })
        try give("p", (0..<most).map { "p\($0)" })
        try give("p", ["x"])
        let united = try otherNames()
        #expect(united.count == most + 1 && united.contains("p"))
        try renameColumn()
        let renamed = try otherNames()
        #expect(renamed.count == most + 2 && renamed.contains("x"))
        for (index, name) in ["x", "p", "z"].enumerated() { try send(name, index + 1) }
        #expect(try hub.value("SELECT sum(z) FROM item", as: Int.self) == 6)
        try expectHealthy([hub])
    }

    /// A bundle can name columns that nobody has, and others can say of each that it is one that is here.
    @Test func manyUnionsLeaveRoomForTheNamesOfHere() throws {
        let most = AdmissionLimits.otherNameCountMax
        try give("x", (0..<most).map { "n\($0)" })
        let names = (0..<most / 2 + 5).map { "p\($0)" }
        var forgery = try Forgery(hub, device, [], upTo: 1)
        forgery.tables = [.init(name: "item", key: "id", columns: ["scope"] + names)]
        try hub.take(forgery, within: nil)
        for name in names { try give(name, ["x"]) }
        #expect(try otherNames().count == most * 3 / 2)
        try renameColumn()
        #expect(try otherNames().contains("x"))
        try expectHealthy([hub])
    }

    /// In a file whose room an earlier version gave to peers, the name of here takes the place of another one.
    @Test func aNameOfHereIsNotedWhereThereIsNoRoom() throws {
        let most = 2 * AdmissionLimits.otherNameCountMax
        try hub.queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(most))
                    INSERT INTO _sync_alias (tbl, col, name) SELECT c.tbl, c.col, 'n' || i
                    FROM n, _sync_column AS c JOIN _sync_table AS t ON t.tbl = c.tbl
                    WHERE t.name = 'item' AND c.name = 'x'
                    """)
        }
        try renameColumn()
        let names = try otherNames()
        #expect(names.count == most && names.contains("x"))
        try send("x", 1)
        #expect(try hub.value("SELECT sum(z) FROM item", as: Int.self) == 1)
        try expectHealthy([hub])
    }
}
