import CipherStore
import SyncEngine

/// Edits of a user who writes values that nobody wrote before.
struct WitnessedEdit {
    /// Few keys, so that replicas meet in the same rows.
    private static let keys = (1...5).map { "0\($0)" + String(repeating: "0", count: 30) }
    static let places = ["a", "b", "c"]

    let store: WitnessedStore
    /// Whether rows of the table of which some hold a part have keys that nobody else makes, as the scopes of rows assume.
    let hasFreshKeys: Bool
    var history: WitnessedHistory
    var random: SimulationRandom
    private(set) var draft = WitnessedHistory.Draft()
    private(set) var trace: [String] = []

    init(
        _ store: WitnessedStore, hasFreshKeys: Bool, _ history: WitnessedHistory, _ random: SimulationRandom
    ) {
        (self.store, self.hasFreshKeys) = (store, hasFreshKeys)
        (self.history, self.random) = (history, random)
    }

    /// One edit within a transaction.
    mutating func run(_ db: Database) throws {
        let table = random.element(of: WitnessedStore.tables) ?? "note"
        let rows = try WitnessedStore.rows(db)
        var key = random.element(of: Self.keys) ?? Self.keys[0]
        if hasFreshKeys, table == WitnessedStore.tableOfRows {
            let known = rows[table]?.keys.sorted() ?? []
            let fresh = (0..<16).map { _ in UInt8(random.number(below: 256)) }
            let isNew = known.count < 5 && random.oneIn(3)
            key = (isNew ? nil : random.element(of: known)) ?? Self.hexadecimal(fresh)
        }
        guard let row = rows[table]?[key] else { return try insert(db, table, key) }
        switch random.number(below: 10) {
        case 0..<2: try delete(db, table, key, row)
        case 2..<4: try move(db, table, key)
        default: try update(db, table, key, row)
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    private func columns(_ table: String) -> [String] {
        guard table == "note" else { return ["name"] }
        return ["title", "body"] + (store.version > 0 ? ["stars"] : [])
    }

    private mutating func insert(_ db: Database, _ table: String, _ key: String) throws {
        let place = random.element(of: Self.places) ?? "a"
        var names = ["place"]
        var values: [String] = [place]
        for column in columns(table) {
            let value = history.newValue()
            names.append(column)
            values.append(value)
            WitnessedHistory.write(
                value, to: .init(table: table, key: key, column: column), over: nil, in: &draft)
        }
        try db.execute(
            sql: """
                INSERT INTO \(table) (id, \(names.joined(separator: ", ")))
                VALUES (x'\(key)', \(names.map { _ in "?" }.joined(separator: ", ")))
                """, arguments: StatementArguments(values))
        trace.append(
            "insert \(table) \(key.prefix(2)) in \(place): \(values.dropFirst().joined(separator: " "))")
    }

    private mutating func update(
        _ db: Database, _ table: String, _ key: String, _ row: [String: String]
    ) throws {
        let column = random.element(of: columns(table)) ?? "title"
        let value = history.newValue()
        try db.execute(
            sql: "UPDATE \(table) SET \(column) = ? WHERE id = x'\(key)'", arguments: [value])
        WitnessedHistory.write(
            value, to: .init(table: table, key: key, column: column), over: row[column], in: &draft)
        trace.append("update \(table) \(key.prefix(2)): \(column) \(row[column] ?? "NULL") -> \(value)")
    }

    private mutating func move(_ db: Database, _ table: String, _ key: String) throws {
        let place = random.element(of: Self.places) ?? "a"
        try db.execute(sql: "UPDATE \(table) SET place = ? WHERE id = x'\(key)'", arguments: [place])
        trace.append("move \(table) \(key.prefix(2)) to \(place)")
    }

    private mutating func delete(
        _ db: Database, _ table: String, _ key: String, _ row: [String: String]
    ) throws {
        try db.execute(sql: "DELETE FROM \(table) WHERE id = x'\(key)'")
        let seen = row.filter { $0.key != WitnessedStore.placeColumn }.values
        WitnessedHistory.delete(Array(seen), in: &draft)
        trace.append("delete \(table) \(key.prefix(2)): \(seen.sorted().joined(separator: " "))")
    }
}
