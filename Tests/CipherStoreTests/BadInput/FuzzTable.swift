import Foundation

@testable import CipherStore

/// A random table.
struct FuzzTable: Sendable {
    /// The table of the records that are written and read now.
    @TaskLocal static var current = FuzzTable()

    enum Kind: CaseIterable {
        case integer, real, text, blob, any, date, uuid, bool
    }

    struct Column: Sendable {
        var name: String
        var kind: Kind
        var isNotNull = false
        var isUnique = false
        var definition = ""
    }

    var name = "none"
    var columns: [Column] = []
    /// The positions of the primary key's columns.
    var key: [Int] = []
    var sql = ""

    private init() {}

    init(_ random: inout SeededGenerator) {
        name = Self.makeName(&random)
        let count = [1, 2, 3, 5, 8, 13, 40].randomElement(using: &random) ?? 3
        var used: Set<String> = []
        while columns.count < count {
            let name = Self.makeName(&random)
            guard used.insert(name.lowercased()).inserted else { continue }
            columns.append(Column(name: name, kind: Kind.allCases.randomElement(using: &random) ?? .text))
        }
        let keyCount = min(count, [1, 1, 1, 2, 3].randomElement(using: &random) ?? 1)
        key = Array(columns.indices.shuffled(using: &random).prefix(keyCount))
        let isRowID = keyCount == 1 && Bool.random(using: &random)
        if isRowID { columns[key[0]].kind = .integer }
        // A key of dates or truth values would hardly ever be free.
        for index in key where columns[index].kind == .bool { columns[index].kind = .uuid }
        for index in columns.indices { define(index, isRowID, &random) }
        var lines = columns.map(\.definition)
        if !isRowID {
            lines.append(
                "PRIMARY KEY (\(key.map { columns[$0].name.quotedDatabaseIdentifier }.joined(separator: ", ")))"
            )
        }
        let isWithoutRowID = !isRowID && Bool.random(using: &random)
        sql =
            "CREATE TABLE \(name.quotedDatabaseIdentifier) (\(lines.joined(separator: ", ")))"
            + (isWithoutRowID ? " WITHOUT ROWID" : "")
    }

    private mutating func define(_ index: Int, _ isRowID: Bool, _ random: inout SeededGenerator) {
        let quoted = columns[index].name.quotedDatabaseIdentifier
        let isKey = key.contains(index)
        var types: [String] =
            switch columns[index].kind {
            case .integer: ["INTEGER", "INT", "BIGINT"]
            case .real: ["REAL", "DOUBLE", "FLOAT"]
            case .text: ["TEXT", "VARCHAR(3)", "CLOB"]
            case .blob: ["BLOB", ""]
            case .any: ["BLOB", ""]
            case .date: ["TEXT", "DATETIME", "DATE"]
            case .uuid: ["BLOB", "UUID BLOB"]
            case .bool: ["BOOLEAN", "INTEGER"]
            }
        if isRowID && isKey { types = ["INTEGER PRIMARY KEY"] }
        var text = quoted + " " + (types.randomElement(using: &random) ?? "")
        columns[index].isNotNull = isKey || Int.random(in: 0..<4, using: &random) == 0
        if columns[index].isNotNull { text += " NOT NULL" }
        if Int.random(in: 0..<6, using: &random) == 0 { text += " CHECK (typeof(\(quoted)) <> 'none')" }
        if Int.random(in: 0..<6, using: &random) == 0 { text += " DEFAULT '\u{1F41F} ''?'" }
        if !isKey && columns[index].kind != .bool && Int.random(in: 0..<8, using: &random) == 0 {
            columns[index].isUnique = true
            text += " UNIQUE"
        }
        columns[index].definition = text
    }

    private static let pieces = [
        "\"", "[", "]", "`", "'", " ", "%", "?", ":", "@", "$", ";", "--", "/*", "*/", "\n", "\t", "\\", ".",
        ",",
        "(", ")", "select", "from", "TABLE", "order", "group", "null", "primary key", "a", "b", "Z", "0", "_",
        "\u{E9}",
        "\u{1F41F}", "\u{65E5}", "x\u{301}", "\u{200D}", "{", "}", "#", "=", "||", "+", "-",
    ]

    private static func makeName(_ random: inout SeededGenerator) -> String {
        let name = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            pieces.randomElement(using: &random) ?? "a"
        }.joined()
        // Names of SQLite's own would mean something else.
        return ["rowid", "oid", "_rowid_"].contains(name.lowercased()) ? "a" + name : name
    }

    // MARK: Values

    func values(_ random: inout SeededGenerator) -> [DatabaseValue] {
        columns.indices.map { index in
            let column = columns[index]
            if !column.isNotNull && Int.random(in: 0..<5, using: &random) == 0 { return .null }
            return Self.value(column.kind, isSpread: key.contains(index) || column.isUnique, &random)
        }
    }

    private static func value(_ kind: Kind, isSpread: Bool, _ random: inout SeededGenerator) -> DatabaseValue
    {
        let isSpecial = !isSpread || Bool.random(using: &random)
        switch kind {
        case .integer:
            let special: [Int64] = [0, 1, -1, .max, .min, 1 << 53 + 1, -(1 << 53) - 1]
            return
                (isSpecial
                ? special.randomElement(using: &random) ?? 0
                : Int64(bitPattern: random.next())).databaseValue
        case .real:
            let special = [
                0.0, -0.0, .infinity, -.infinity, Double.leastNonzeroMagnitude, 1.7976931348623157e308, 0.1,
                -1.5,
                9_007_199_254_740_992,
            ]
            let number = Double(bitPattern: random.next())
            return (isSpecial || number.isNaN ? special.randomElement(using: &random) ?? 0 : number)
                .databaseValue
        case .text:
            let scalars: [Unicode.Scalar] = [
                "a", "'", "\0", "\u{301}", "é", "日", "🐟", "\n", "\"", "\u{FEFF}", "\u{10FFFF}", "%", "?",
            ]
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                text.append(scalars.randomElement(using: &random) ?? "a")
            }
            return String(text).databaseValue
        case .blob:
            return Data((0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8(random.next() & 0xFF) })
                .databaseValue
        case .any:
            let others: [Kind] = [.integer, .real, .text, .blob, .uuid]
            return value(others.randomElement(using: &random) ?? .text, isSpread: isSpread, &random)
        case .date:
            let range = -62_167_219_200_000...253_402_300_799_999
            let special = [range.lowerBound, range.upperBound, 0, -1, 999]
            let milliseconds =
                isSpecial ? special.randomElement(using: &random) ?? 0 : Int.random(in: range, using: &random)
            return Date(timeIntervalSince1970: Double(milliseconds) / 1000).databaseValue
        case .uuid:
            let words = (random.next(), random.next())
            return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.databaseValue
        case .bool: return Bool.random(using: &random).databaseValue
        }
    }

    func keyDictionary(_ row: [DatabaseValue]) -> [String: (any DatabaseValueConvertible)?] {
        Dictionary(uniqueKeysWithValues: key.map { (columns[$0].name, row[$0]) })
    }

    func sameKey(_ first: [DatabaseValue], _ second: [DatabaseValue]) -> Bool {
        key.allSatisfy { first[$0] == second[$0] }
    }

    func isSame(_ first: [DatabaseValue], _ second: [DatabaseValue]) -> Bool { first == second }
}

/// The rows that a table must have.
struct FuzzModel {
    let table: FuzzTable
    var rows: [[DatabaseValue]] = []

    init(_ table: FuzzTable, rows: [[DatabaseValue]] = []) {
        self.table = table
        self.rows = rows
    }

    /// Whether no row is in the way of another.
    func accepts(_ values: [DatabaseValue]) -> Bool {
        let unique = table.columns.indices.filter { table.columns[$0].isUnique }.map { [$0] } + [table.key]
        return !rows.contains { row in
            unique.contains { columns in columns.allSatisfy { !row[$0].isNull && row[$0] == values[$0] } }
        }
    }

    mutating func set(_ values: [DatabaseValue]) {
        rows.removeAll { table.sameKey($0, values) }
        rows.append(values)
    }

    func contains(_ values: [DatabaseValue]) -> Bool { rows.contains { table.isSame($0, values) } }
}

/// A record of the current table, written by hand.
struct FuzzRecord: FetchableRecord, PersistableRecord {
    static var databaseTableName: String { FuzzTable.current.name }
    var values: [DatabaseValue]

    init(values: [DatabaseValue]) { self.values = values }

    init(row: Row) throws {
        values = try FuzzTable.current.columns.map { try row.decode(forColumn: $0.name) }
    }

    func encode(to container: inout PersistenceContainer) {
        for (column, value) in zip(FuzzTable.current.columns, values) { container[column.name] = value }
    }
}

/// A record of the current table that encodes and decodes Swift's types.
struct FuzzCodable: Codable, FetchableRecord, PersistableRecord {
    static var databaseTableName: String { FuzzTable.current.name }
    var values: [DatabaseValue]

    struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(values: [DatabaseValue]) { self.values = values }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        values = try FuzzTable.current.columns.map { column in
            let key = Key(column.name)
            switch column.kind {
            case .integer: return try container.decodeIfPresent(Int64.self, forKey: key).databaseValue
            case .real: return try container.decodeIfPresent(Double.self, forKey: key).databaseValue
            case .text: return try container.decodeIfPresent(String.self, forKey: key).databaseValue
            case .blob: return try container.decodeIfPresent(Data.self, forKey: key).databaseValue
            case .any: return try container.decodeIfPresent(AnyValue.self, forKey: key)?.value ?? .null
            case .date: return try container.decodeIfPresent(Date.self, forKey: key).databaseValue
            case .uuid: return try container.decodeIfPresent(UUID.self, forKey: key).databaseValue
            case .bool: return try container.decodeIfPresent(Bool.self, forKey: key).databaseValue
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (column, value) in zip(FuzzTable.current.columns, values) {
            let key = Key(column.name)
            switch column.kind {
            case .integer: try container.encode(Int64.fromDatabaseValue(value), forKey: key)
            case .real: try container.encode(Double.fromDatabaseValue(value), forKey: key)
            case .text: try container.encode(String.fromDatabaseValue(value), forKey: key)
            case .blob: try container.encode(Data.fromDatabaseValue(value), forKey: key)
            case .any: try container.encode(AnyValue(value: value), forKey: key)
            case .date: try container.encode(Date.fromDatabaseValue(value), forKey: key)
            case .uuid: try container.encode(UUID.fromDatabaseValue(value), forKey: key)
            case .bool: try container.encode(Bool.fromDatabaseValue(value), forKey: key)
            }
        }
    }

    /// A value of any storage class.
    struct AnyValue: Codable, DatabaseValueConvertible {
        var value: DatabaseValue
        var databaseValue: DatabaseValue { value }
        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> AnyValue? { AnyValue(value: dbValue) }
        init(value: DatabaseValue) { self.value = value }
        init(from decoder: any Decoder) throws { value = .null }
        func encode(to encoder: any Encoder) throws {}
    }
}
