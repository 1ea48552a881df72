import Foundation
import Testing

@testable import CipherStore

/// Rows that show other columns than their statement has.
@Suite struct RowAdapterTests {
    private let queue: DatabaseQueue

    private static let sql = "SELECT 1 AS id, 'a' AS name, 2 AS id, NULL AS name, x'0102' AS extra"

    init() throws { queue = try DatabaseQueue() }

    @Test func adaptersOfAdaptersReadTheStatementsColumns() throws {
        let adapter = ChainedRowAdapter(
            inner: SuffixRowAdapter(fromIndex: 2),
            outer: ColumnMapping(["key": "ID", "blob": "extra"]))
        try queue.read { db in
            let cursor = try Row.fetchCursor(db, sql: Self.sql, adapter: adapter)
            while let row = try cursor.next() {
                for row in [row, row.copy()] {
                    #expect(row.columnNames == ["key", "blob"])
                    #expect(row["KEY"] as Int == 2)
                    #expect(row[1] as Data == Data([1, 2]))
                    #expect(!row.hasColumn("name"))
                    #expect(row.unadapted.columnNames == ["id", "name", "id", "name", "extra"])
                    let data = try row.withUnsafeData(named: "blob") { $0 }
                    #expect(data == Data([1, 2]))
                }
            }
        }
    }

    @Test func anAdapterThatDoesNotFitIsAnError() throws {
        let adapters: [any RowAdapter] = [
            SuffixRowAdapter(fromIndex: 6), RangeRowAdapter(3..<6), ColumnMapping(["a": "missing"]),
            ScopeAdapter(["scope": RangeRowAdapter(5...5)]),
        ]
        try queue.read { db in
            for adapter in adapters {
                let error = #expect(throws: DatabaseError.self) {
                    try Row.fetchCursor(db, sql: Self.sql, adapter: adapter)
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            #expect(throws: DatabaseError.self) {
                try Int.fetchAll(db, sql: Self.sql, adapter: EmptyRowAdapter())
            }
        }
    }

    @Test func aScopeIsFoundAtAnyDepthAndIsNilWhenAllIsNull() throws {
        struct Item: FetchableRecord {
            var id: Int?
            init(row: Row) throws { id = try row.decode(forColumn: "id") }
        }
        let adapter = ScopeAdapter([
            "outer": RangeRowAdapter(0..<2).addingScopes(["inner": RangeRowAdapter(2..<4)]),
            "empty": RangeRowAdapter(3..<4),
        ])
        try queue.read { db in
            let row = try #require(try Row.fetchOne(db, sql: Self.sql, adapter: adapter))
            let inner: Item = row["inner"]
            #expect(inner.id == 2)
            let empty: Item? = row["empty"]
            #expect(empty == nil)
            let missing: Item? = row["missing"]
            #expect(missing == nil)
            #expect(throws: RowDecodingError.self) { try row.decode(Item.self, forKey: "missing") }
            #expect(row.scopes["inner"] == nil)
        }
    }

    @Test func prefetchedRowsBelongToTheRowOrToItsScope() throws {
        struct Item: FetchableRecord, Hashable {
            var id: Int
            init(row: Row) throws { id = try row.decode(forColumn: "id") }
        }
        let row = try #require(
            try queue.read {
                try Row.fetchOne($0, sql: Self.sql, adapter: ScopeAdapter(["scope": RangeRowAdapter(0..<1)]))
            })
        row.prefetchedRows.setRows([["id": 7], ["id": 8], ["id": 7]], forKeyPath: ["scope", "items"])
        row.prefetchedRows.setRows([], forKeyPath: ["none"])
        let items: [Item] = row["items"]
        #expect(items.map(\.id) == [7, 8, 7])
        let set: Set<Item> = row["items"]
        #expect(set.count == 2)
        let none: [Item] = row["none"]
        #expect(none.isEmpty)
        #expect(row.scopes["scope"]?.prefetchedRows["items"]?.count == 3)
        #expect(row.scopes["scope"]?.prefetchedRows["none"] == nil)
        #expect(row.prefetchedRows.keys == ["items", "none"])
        #expect(throws: RowDecodingError.self) { try row.decode([Item].self, forKey: "missing") }
        #expect(row != row.unscoped)
    }

    @Test func rowsAreEqualWhenColumnsScopesAndPrefetchedRowsAre() throws {
        let plain: Row = ["id": 1, "name": "a"]
        #expect(plain == ["id": 1, "name": "a"])
        #expect(plain.hashValue == (["id": 1, "name": "a"] as Row).hashValue)
        #expect(plain != ["name": "a", "id": 1])
        #expect(plain != ["ID": 1, "name": "a"])
        let other = plain.copy()
        #expect(other === plain)
    }
}
