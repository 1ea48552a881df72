import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Random edits and random migrations on replicas that migrate at different times.
/// When all have migrated and have seen everything, they are equal, and each value
/// that somebody wrote is there, was replaced by somebody who saw it, or is kept as
/// a conflict.
@Suite struct MigrationConvergenceTests {
    /// A column, whatever it is called.
    private struct Column: Equatable {
        let number: Int
        var name: String
    }

    /// What a migration does.
    private enum Step {
        case add(Column)
        /// Added, and filled from the key.
        case fill(Column)
        case rename(Int, String)
        case drop(Int)
        case renameTable(String)
        /// Rebuilt with an index; `true` in SQL alone.
        case rebuild(Bool)
    }

    /// A replica, and how far it has migrated.
    private final class Member {
        let replica: TestReplica
        let number: Int
        let memberCount: Int
        var version = 0
        var table = "note"
        var columns = [
            Column(number: 0, name: "title"), Column(number: 1, name: "body"),
            Column(number: 2, name: "stars"),
        ]

        init(_ replica: TestReplica, number: Int, of memberCount: Int) {
            self.replica = replica
            self.number = number
            self.memberCount = memberCount
        }
    }

    /// Who wrote what, and what need not be found again.
    private struct Ledger {
        var written: [String: Int] = [:]
        var replaced: Set<String> = []
        var droppedColumns: Set<Int> = []
        var next = 0

        mutating func value(_ column: Int) -> String {
            next += 1
            written["v\(next)"] = column
            return "v\(next)"
        }
    }

    private static func makeSteps(_ random: inout SplitMix64) -> [Step] {
        var columns = 3
        var live = [0, 1, 2]
        var names = 0
        var tables = 0
        return (0..<7).map { _ in
            switch random.next(below: 10) {
            case 0..<2:
                columns += 1
                live.append(columns - 1)
                return .add(Column(number: columns - 1, name: "added\(columns - 1)"))
            case 2:
                columns += 1
                return .fill(Column(number: columns - 1, name: "filled\(columns - 1)"))
            case 3..<6:
                names += 1
                return .rename(live[Int(random.next(below: UInt64(live.count)))], "renamed\(names)")
            case 6 where live.count > 2:
                return .drop(live.remove(at: Int(random.next(below: UInt64(live.count)))))
            case 7:
                tables += 1
                return .renameTable("note\(tables)")
            case 8: return .rebuild(true)
            default: return .rebuild(false)
            }
        }
    }

    private static func definition(_ column: Column) -> String {
        "\(column.name.quotedDatabaseIdentifier) TEXT"
            + (column.number.isMultiple(of: 2) ? " DEFAULT 'd'" : "")
    }

    private func migrate(_ member: Member, _ step: Step, _ ledger: inout Ledger) throws {
        let table = member.table
        var newTable = table
        var columns = member.columns
        switch step {
        case .add(let column), .fill(let column): columns.append(column)
        case .rename(let number, let name):
            if let index = columns.firstIndex(where: { $0.number == number }) { columns[index].name = name }
        case .drop(let number):
            ledger.droppedColumns.insert(number)
            columns.removeAll { $0.number == number }
        case .renameTable(let name): newTable = name
        case .rebuild: break
        }
        let before = member.columns
        let after = columns
        let renamed = newTable
        try member.replica.migrate("m\(member.version)") { db in
            switch step {
            case .add(let column), .fill(let column):
                try db.alter(table: table) { $0.addColumn(sql: Self.definition(column)) }
                if case .fill = step {
                    try db.execute(sql: "UPDATE \(table) SET \(column.name) = 'of ' || hex(id)")
                }
            case .rename(let number, let name):
                guard let old = before.first(where: { $0.number == number }) else { return }
                try db.alter(table: table) { $0.rename(column: old.name, to: name) }
            case .drop(let number):
                guard let old = before.first(where: { $0.number == number }) else { return }
                try db.alter(table: table) { $0.drop(column: old.name) }
            case .renameTable:
                try db.rename(table: table, to: renamed)
            case .rebuild(let inSQL):
                let list = (["id"] + after.map(\.name)).joined(separator: ", ")
                try db.execute(
                    sql: """
                        CREATE TABLE rebuilt (id BLOB PRIMARY KEY, \(after.map(Self.definition).joined(separator: ", ")));
                        INSERT INTO rebuilt (\(list)) SELECT \(list) FROM \(table);
                        """)
                if inSQL {
                    try db.execute(sql: "DROP TABLE \(table); ALTER TABLE rebuilt RENAME TO \(table)")
                } else {
                    try db.drop(table: table)
                    try db.rename(table: "rebuilt", to: table)
                }
            }
        }
        member.version += 1
        member.table = newTable
        member.columns = columns
    }

    private func edit(_ member: Member, _ random: inout SplitMix64, _ ledger: inout Ledger) throws {
        let number = Int(random.next(below: 6))
        let row = key(UInt8(number))
        let table = member.table
        let visible = try member.replica.queue.read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM \(table) WHERE id = ?", arguments: [row])
        }
        let editable = member.columns.filter { !$0.name.hasPrefix("filled") }
        let column = editable[Int(random.next(below: UInt64(editable.count)))]
        guard let visible else {
            // Two replicas that insert one row at the same time, of which one lacks a column, are
            // a case of their own: whose the column's default is can't be told.
            guard number % member.memberCount == member.number else { return }
            try member.replica.execute(
                "INSERT INTO \(table) (id, \(column.name)) VALUES (?, ?)", [row, ledger.value(column.number)])
            return
        }
        if random.next(below: 12) == 0 {
            for column in editable {
                if let value: String = visible[column.name] { ledger.replaced.insert(value) }
            }
            try member.replica.execute("DELETE FROM \(table) WHERE id = ?", [row])
            return
        }
        if let value: String = visible[column.name] { ledger.replaced.insert(value) }
        try member.replica.execute(
            "UPDATE \(table) SET \(column.name) = ? WHERE id = ?", [ledger.value(column.number), row])
    }

    private func exchange(_ left: Member, _ right: Member, _ direction: SyncDirection = .both) throws {
        let environment = left.replica.stores.clock.environment
        _ = try SessionDriver(
            local: StorePeer(left.replica.queue, environment, closes: false),
            remote: StorePeer(right.replica.queue, environment, closes: false), remoteName: "", progress: nil
        ).run(direction)
    }

    @Test(arguments: Campaign.seeds(16, nightly: 240))
    func replicasThatMigrateConvergeAndLoseNothing(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let stores = try TestStores(seed: seed)
        let schema = "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT DEFAULT 'b', stars TEXT);"
        let count = seed.isMultiple(of: 2) ? 2 : 3
        let first = Member(try stores.create("0.db", schema: schema, tables: ["note"]), number: 0, of: count)
        var ledger = Ledger()
        for _ in 0..<6 { try edit(first, &random, &ledger) }
        var members = [first]
        for number in 1..<count {
            let replica = try stores.clone(members[number - 1].replica, as: "\(number).db")
            members.append(Member(replica, number: number, of: count))
        }
        let steps = Self.makeSteps(&random)
        for _ in 0..<90 {
            let member = members[Int(random.next(below: UInt64(members.count)))]
            switch random.next(below: 8) {
            case 0 where member.version < steps.count:
                try migrate(member, steps[member.version], &ledger)
            case 1, 2:
                let other = members[Int(random.next(below: UInt64(members.count)))]
                let directions: [SyncDirection] = [.push, .pull, .both]
                if other !== member { try exchange(member, other, directions[Int(random.next(below: 3))]) }
            default: try edit(member, &random, &ledger)
            }
        }
        for member in members {
            while member.version < steps.count { try migrate(member, steps[member.version], &ledger) }
        }
        for _ in 0..<2 { for member in members.dropFirst() { try exchange(members[0], member) } }
        try compare(members, "seed \(seed): \(steps)")
        try findLostValues(members, ledger, "seed \(seed): \(steps)")
    }

    private func compare(_ members: [Member], _ comment: String) throws {
        let table = members[0].table
        // Columns have one order on replicas that run the same migrations.
        let expected = try members[0].replica.state([table])
        for member in members.dropFirst() {
            let state = try member.replica.state([table])
            #expect(state == expected, "\(comment)")
        }
        for member in members {
            #expect(try member.replica.synchronizer.status().parkedCount == 0, "\(comment)")
            #expect(try member.replica.synchronizer.status().schemaRemarks.isEmpty, "\(comment)")
        }
    }

    private func findLostValues(_ members: [Member], _ ledger: Ledger, _ comment: String) throws {
        var found: Set<String> = []
        for member in members {
            let table = member.table
            found.formUnion(
                try member.replica.queue.read { db in
                    let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(table)")
                    let values = rows.flatMap {
                        $0.databaseValues.compactMap { String.fromDatabaseValue($0) }
                    }
                    let lost = try Row.fetchAll(db, sql: "SELECT val FROM _sync_conflict").compactMap {
                        String.fromDatabaseValue($0.databaseValues[0])
                    }
                    return Set(values + lost)
                })
        }
        let missing = ledger.written.filter { value, column in
            !found.contains(value) && !ledger.replaced.contains(value)
                && !ledger.droppedColumns.contains(column)
        }
        #expect(missing.isEmpty, "\(comment)")
    }
}
