import CipherStore
import SyncEngine

/// Edits of a user who writes values that nobody wrote before.
struct WitnessedEdit {
    /// Few keys, so that replicas meet in the same rows.
    private static let keys = (1...5).map { "0\($0)" + String(repeating: "0", count: 30) }
    static let places = ["a", "b", "c"]

    let store: WitnessedStore
    var history: WitnessedHistory
    var random: SimulationRandom
    private(set) var draft = WitnessedHistory.Draft()
    private(set) var trace: [String] = []

    init(_ store: WitnessedStore, _ history: WitnessedHistory, _ random: SimulationRandom) {
        (self.store, self.history, self.random) = (store, history, random)
    }

    /// One edit within a transaction.
    mutating func run(_ db: Database) throws {
        let table = random.element(of: WitnessedStore.tables) ?? "note"
        let key = random.element(of: Self.keys) ?? Self.keys[0]
        let rows = try WitnessedStore.rows(db)
        guard let row = rows[table]?[key] else { return try insert(db, table, key) }
        switch random.number(below: 10) {
        case 0..<2: try delete(db, table, key, row)
        case 2..<4: try move(db, table, key)
        default: try update(db, table, key, row)
        }
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
