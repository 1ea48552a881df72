import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Random schemas and rows: which row refers to which is the same before and after.
@Suite struct KeyMigrationPropertyTests {
    private enum Kind: CaseIterable { case integer, counted, text, nocase, withoutRowID, pair, none }

    private struct Table {
        let name: String
        let kind: Kind
        /// The columns that refer to a table, and the table's index.
        var references: [(columns: [String], parent: Int)] = []

        var key: [String] {
            switch kind {
            case .pair: ["k1", "k2"]
            case .none: []
            default: ["k"]
            }
        }
    }

    /// Numbers of a seed.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private func tables(_ numbers: inout Numbers) -> [Table] {
        let count = Int.random(in: 2...5, using: &numbers)
        var tables = (0..<count).map {
            Table(name: "t\($0)", kind: Kind.allCases.randomElement(using: &numbers) ?? .integer)
        }
        for index in tables.indices {
            for number in 0..<Int.random(in: 0...2, using: &numbers) {
                let parent = Int.random(in: 0..<count, using: &numbers)
                let width = tables[parent].key.count
                guard width > 0 else { continue }
                tables[index].references.append(((0..<width).map { "r\(number)_\($0)" }, parent))
            }
        }
        return tables
    }

    private func definition(_ table: Table, _ tables: [Table], _ numbers: inout Numbers) -> String {
        var items: [String] =
            switch table.kind {
            case .integer: ["k INTEGER PRIMARY KEY"]
            case .counted: ["k INTEGER PRIMARY KEY AUTOINCREMENT"]
            case .text, .withoutRowID: ["k TEXT PRIMARY KEY"]
            case .nocase: ["k VARCHAR(10) COLLATE NOCASE", "label TEXT", "PRIMARY KEY (k)"]
            case .pair: ["k1 INT", "k2 TEXT"]
            case .none: []
            }
        let label = items.firstIndex { $0.hasPrefix("label") }
        let columns = table.references.flatMap(\.columns).map {
            $0 + (Bool.random(using: &numbers) ? " INTEGER" : "")
        }
        let at = label ?? items.count
        items.insert(contentsOf: (label == nil ? ["label TEXT"] : []) + columns, at: at)
        if table.kind == .pair { items.append("PRIMARY KEY (k1, k2)") }
        for reference in table.references {
            let parent = tables[reference.parent]
            let action = ["", " ON DELETE CASCADE", " ON UPDATE SET NULL", " DEFERRABLE INITIALLY DEFERRED"]
            let named = Bool.random(using: &numbers) ? "" : " (\(parent.key.joined(separator: ", ")))"
            items.append(
                "FOREIGN KEY (\(reference.columns.joined(separator: ", "))) REFERENCES \(parent.name)\(named)"
                    + (action.randomElement(using: &numbers) ?? ""))
        }
        return "CREATE TABLE \(table.name) (\(items.joined(separator: ", ")))"
            + (table.kind == .withoutRowID ? " WITHOUT ROWID" : "")
    }

    private func key(_ table: Table, _ number: Int) -> [DatabaseValue] {
        switch table.kind {
        case .integer, .counted: [(number * 3 - 4).databaseValue]
        case .text, .withoutRowID: ["key \(number)".databaseValue]
        case .nocase: ["Key \(number)".databaseValue]
        case .pair: [number.databaseValue, "x\(number % 2)".databaseValue]
        case .none: []
        }
    }

    private func fill(_ db: Database, _ tables: [Table], _ numbers: inout Numbers) throws {
        for table in tables {
            for number in 0..<Int.random(in: 0...8, using: &numbers) {
                var columns = table.key
                var values = key(table, number)
                columns.append("label")
                values.append("\(table.name) row \(number)".databaseValue)
                for reference in table.references {
                    let parent = tables[reference.parent]
                    // Some are there, some are not, some are NULL, and some are written in other ways.
                    var target = key(parent, Int.random(in: 0...9, using: &numbers))
                    if Int.random(in: 0...5, using: &numbers) == 0 { target = target.map { _ in .null } }
                    if parent.kind == .nocase, let text = String.fromDatabaseValue(target[0]) {
                        target = [text.uppercased().databaseValue]
                    } else if parent.kind == .integer, Bool.random(using: &numbers),
                        let value = Int.fromDatabaseValue(target[0])
                    {
                        target = [String(value).databaseValue]
                    }
                    columns += reference.columns
                    values += target
                }
                let marks = columns.map { _ in "?" }.joined(separator: ", ")
                try db.execute(
                    sql: "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
                    arguments: StatementArguments(values))
            }
        }
    }

    /// Which rows there are, which refer to which, and which refer to nothing.
    private func relations(_ db: Database, _ tables: [Table]) throws -> [String] {
        try tables.flatMap { table in
            let labels = try String.fetchAll(db, sql: "SELECT label FROM \(table.name) ORDER BY label")
            return try labels
                + table.references.flatMap { reference in
                    let parent = tables[reference.parent]
                    let match = zip(reference.columns, parent.key).map { "p.\($1) = c.\($0)" }.joined(
                        separator: " AND ")
                    let isNull = reference.columns.map { "c.\($0) IS NULL" }.joined(separator: " OR ")
                    return try String.fetchAll(
                        db,
                        sql: """
                            SELECT c.label || ' \(reference.columns[0]) ' || coalesce(p.label, CASE WHEN \(isNull) THEN 'null' ELSE 'nothing' END)
                            FROM \(table.name) AS c LEFT JOIN \(parent.name) AS p ON \(match) ORDER BY 1
                            """)
                }
        }
    }

    @Test(arguments: 1...60) func theSameRowsReferToTheSameRows(_ seed: Int) throws {
        var numbers = Numbers(state: UInt64(seed))
        let tables = tables(&numbers)
        let schema = tables.map { definition($0, tables, &numbers) }
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db in
            for sql in schema { try db.execute(sql: sql) }
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try fill(db, tables, &numbers)
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
        let before = try queue.read { try relations($0, tables) }
        var migration = UUIDKeyMigration()
        migration.namespace = .init(high: 1, low: UInt64(seed))
        migration.keyForm = seed % 2 == 0 ? .text : .blob
        migration.keepsOldKeys = seed % 3 == 0
        // Some keep their keys, and follow.
        if seed % 5 == 0 { migration.tables = [tables[0].name] }
        let environment = TestEnvironment(seed: 1).environment
        let plan = try migration.migrate(queue, environment: environment)
        let after = try queue.read { try relations($0, tables) }
        #expect(after == before, "\(schema)")
        let violations = try queue.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count }
        #expect(Int64(violations) >= plan.dangling.map(\.rowCount).reduce(0, +))
        // All can be tracked, and a second conversion finds nothing to do.
        _ = try Synchronizer(queue, tables: plan.trackableTables, environment: environment)
        #expect(try migration.migrate(queue, environment: environment).tables == [])
        #expect(try queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
    }
}
