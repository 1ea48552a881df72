import CipherStore
import Foundation
import SyncWire

/// Random statements on the tables of a ``BuiltInSchema``, each an edit of its own.
struct BuiltInEdits: Sendable {
    let schema: BuiltInSchema
    /// How many keys there are for each table: few, so that replicas meet in the same rows.
    let keyCount: Int
    /// Whether each key is inserted by one device only: what a column has of which one of two
    /// writers of a whole row does not know is not determined.
    let hasOwners: Bool
    /// Who edits.
    var device = SimulatedDevice(number: 0, version: 0)

    func run(_ db: Database, _ random: inout SimulationRandom) throws -> String {
        guard let table = random.element(of: schema.tables) else { return "nothing" }
        if table.isChosenFrom { return try editChosen(db, table, &random) }
        if let counter = table.counter, random.oneIn(3) { return try count(db, table, counter, &random) }
        switch random.number(below: 20) {
        case 0..<7: return try insert(db, table, &random, "INSERT")
        case 7, 8: return try insert(db, table, &random, replacement(db))
        case 9..<15: return try update(db, table, &random)
        case 15: return try updateAll(db, table, &random)
        case 16, 17: return try delete(db, table, &random)
        case 18: return try rekey(db, table, &random)
        default: return try deleteMany(db, table, &random)
        }
    }

    /// Without recursive triggers, no trigger tells of a row that REPLACE removes for another one.
    private func replacement(_ db: Database) throws -> String {
        guard schema.hasUniqueColumns else { return "INSERT OR REPLACE" }
        let isTold = try Bool.fetchOne(db, sql: "PRAGMA recursive_triggers") == true
        return isTold ? "INSERT OR REPLACE" : "INSERT OR IGNORE"
    }

    private func execute(_ db: Database, _ sql: String, _ arguments: [DatabaseValue]) throws -> String {
        try db.execute(sql: sql, arguments: StatementArguments(arguments))
        return describe(sql, arguments)
    }

    private func describe(_ sql: String, _ arguments: [DatabaseValue]) -> String {
        var text = ""
        var rest = arguments[...]
        for character in sql {
            if character == "?", let argument = rest.popFirst() {
                text += ModelValue(argument).description
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// The key of a number: a blob, or its text.
    static func key(_ number: Int, isText: Bool) -> DatabaseValue {
        guard isText else { return Data(repeating: UInt8(number + 1), count: 16).databaseValue }
        let digits = String(repeating: "0", count: 11) + String(number % 10)
        return "00000000-0000-4000-8000-\(digits)".databaseValue
    }

    private func key(_ table: BuiltInSchema.Table, _ random: inout SimulationRandom) -> DatabaseValue {
        Self.key(random.number(below: keyCount), isText: table.hasTextKey)
    }

    /// A key that this device may insert.
    private func newKey(
        _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) -> DatabaseValue? {
        guard hasOwners else { return key(table, &random) }
        let number = random.element(of: (0..<keyCount).filter { $0 % 2 == device.number })
        return number.map { Self.key($0, isText: table.hasTextKey) }
    }

    private func value(
        _ db: Database, _ content: BuiltInSchema.Content, _ random: inout SimulationRandom
    ) throws -> DatabaseValue {
        switch content {
        case .any: return RandomValues.any(&random)
        case .text: return random.oneIn(6) ? RandomValues.any(&random) : RandomValues.text(&random)
        case .integer: return random.oneIn(6) ? RandomValues.any(&random) : RandomValues.integer(&random)
        case .real: return random.oneIn(6) ? RandomValues.any(&random) : RandomValues.real(&random)
        case .name: return RandomValues.name(&random)
        case .smallNumber: return RandomValues.smallNumber(&random)
        case .reference(let parent):
            if random.oneIn(3) { return .null }
            let keys = try Row.fetchAll(db, sql: "SELECT id FROM \(parent) ORDER BY id").map {
                $0.databaseValues[0]
            }
            return random.element(of: keys) ?? .null
        }
    }

    private func insert(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom, _ verb: String
    ) throws -> String {
        guard let key = newKey(table, &random) else { return "nothing" }
        var names = ["id"]
        var values = [key]
        for column in table.columns(version: device.version) where !random.oneIn(3) {
            names.append(column.name)
            values.append(try value(db, column.content, &random))
        }
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        return try execute(
            db, "\(verb) INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(marks))", values)
    }

    private func assignments(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> (sql: String, values: [DatabaseValue]) {
        let all = table.columns(version: device.version)
        var columns = all.filter { _ in random.oneIn(2) }
        if columns.isEmpty { columns = [random.element(of: all)].compactMap { $0 } }
        return (
            columns.map { "\($0.name) = ?" }.joined(separator: ", "),
            try columns.map { try value(db, $0.content, &random) }
        )
    }

    private func update(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        let (sql, values) = try assignments(db, table, &random)
        return try execute(db, "UPDATE \(table.name) SET \(sql) WHERE id = ?", values + [key(table, &random)])
    }

    /// Adds to a counter, of one row or of all.
    private func count(
        _ db: Database, _ table: BuiltInSchema.Table, _ counter: String, _ random: inout SimulationRandom
    ) throws -> String {
        let steps: [Int64] = [1, 1, 1, 5, -2, 1000, .max]
        let step = (random.element(of: steps) ?? 1).databaseValue
        let sql = "UPDATE \(table.name) SET \(counter) = \(counter) + ?"
        if random.oneIn(4) { return try execute(db, sql, [step]) }
        return try execute(db, "\(sql) WHERE id = ?", [step, key(table, &random)])
    }

    private func updateAll(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        let (sql, values) = try assignments(db, table, &random)
        return try execute(db, "UPDATE \(table.name) SET \(sql)", values)
    }

    private func delete(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        try execute(db, "DELETE FROM \(table.name) WHERE id = ?", [key(table, &random)])
    }

    private func deleteMany(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        try execute(
            db, "DELETE FROM \(table.name) WHERE id IN (?, ?)", [key(table, &random), key(table, &random)])
    }

    private func rekey(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        guard let newKey = newKey(table, &random) else { return "nothing" }
        let allowsReplace = try replacement(db) == "INSERT OR REPLACE"
        let verb = allowsReplace && random.oneIn(3) ? "UPDATE OR REPLACE" : "UPDATE"
        return try execute(
            db, "\(verb) \(table.name) SET id = ? WHERE id = ?", [newKey, key(table, &random)])
    }
}

extension BuiltInEdits {
    /// Edits a table of which replicas hold some rows: rows that are here, and new ones.
    private func editChosen(
        _ db: Database, _ table: BuiltInSchema.Table, _ random: inout SimulationRandom
    ) throws -> String {
        let keys = try DatabaseValue.fetchAll(db, sql: "SELECT id FROM \(table.name) ORDER BY id")
        let room = ModelValue(random.element(of: BuiltInSchema.rooms) ?? .null).databaseValue
        let name = RandomValues.text(&random)
        guard let key = random.element(of: keys), !random.oneIn(4) else {
            var bytes = (0..<16).map { _ in UInt8(random.number(below: 256)) }
            // A key of chance, or one that two replicas could have made.
            if random.oneIn(2) { (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x40, bytes[8] & 0x3F | 0x80) }
            return try execute(
                db, "INSERT INTO \(table.name) (id, room, name) VALUES (?, ?, ?)",
                [Data(bytes).databaseValue, room, name])
        }
        switch random.number(below: 10) {
        case 0: return try execute(db, "DELETE FROM \(table.name) WHERE id = ?", [key])
        case 1:
            return try execute(
                db, "INSERT OR REPLACE INTO \(table.name) (id, room, name) VALUES (?, ?, ?)",
                [key, room, name])
        case 2...4: return try execute(db, "UPDATE \(table.name) SET room = ? WHERE id = ?", [room, key])
        case 5:
            return try execute(
                db, "UPDATE \(table.name) SET room = ?, name = ? WHERE id = ?", [room, name, key])
        case 6, 7: return try execute(db, "UPDATE \(table.name) SET name = ? WHERE id = ?", [name, key])
        default: return try execute(db, "UPDATE \(table.name) SET size = size + 1 WHERE id = ?", [key])
        }
    }
}

extension SimulatedApp {
    /// The app that a seed makes up, of tables that allow what the features need.
    static func builtIn(_ features: Set<SimulationFeature>, seed: UInt64) -> SimulatedApp {
        var random = SimulationRandom(seed: seed, part: 2)
        let schema = BuiltInSchema(features, &random)
        let isMigrated = features.contains(.migrations)
        let edits = BuiltInEdits(
            schema: schema, keyCount: 3 + random.number(below: 5), hasOwners: isMigrated)
        return SimulatedApp(
            tables: schema.tables.map(\.name), counters: schema.counters,
            versionCount: isMigrated ? BuiltInSchema.versionCount : 1,
            hasSingleStatements: true, allowsPlainTriggers: true,
            rowScope: features.contains(.rowScopes)
                ? .init(table: "member", column: "room", values: BuiltInSchema.rooms) : nil,
            migrate: { try schema.migrate($0, to: $1) },
            edit: { db, random, device in
                var edits = edits
                edits.device = device
                return try edits.run(db, &random)
            })
    }
}

extension BuiltInSchema {
    /// Brings a database to a version of the schema.
    func migrate(_ database: any DatabaseWriter, to version: Int) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("0") { db in
            for table in tables {
                for sql in [table.sql] + table.indexes { try db.execute(sql: sql) }
            }
        }
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: "ALTER TABLE note ADD COLUMN extra; ALTER TABLE tag ADD COLUMN weight INTEGER DEFAULT 7")
        }
        migrator.registerMigration("2") { db in
            try db.alter(table: "note") { $0.drop(column: "score") }
        }
        try migrator.migrate(database, upTo: String(version))
    }
}
