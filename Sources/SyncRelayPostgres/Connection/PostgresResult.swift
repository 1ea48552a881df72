import Foundation

/// The rows that a statement gave, in PostgreSQL's binary format.
struct PostgresResult {
    /// The rows.
    let rows: [PostgresRow]
    /// How many rows were changed, or given.
    let changedCount: Int

    /// The only row; nil when there is none.
    var first: PostgresRow? { rows.first }
}

/// A row.
struct PostgresRow {
    private let values: [Data?]

    init(_ values: [Data?]) { self.values = values }

    /// A value; nil when it is NULL.
    ///
    /// - throws: ``PostgresFailure`` when there is no such column.
    private func value(_ column: Int) throws -> Data? {
        guard values.indices.contains(column) else { throw Self.unexpected(column) }
        return values[column]
    }

    private static func unexpected(_ column: Int) -> PostgresFailure {
        PostgresFailure(kind: .unexpected, message: "column \(column) of an answer is not what it should be")
    }

    /// A number of 2, 4 or 8 bytes; nil when it is NULL.
    func optionalInteger(_ column: Int) throws -> Int64? {
        guard let data = try value(column) else { return nil }
        guard [2, 4, 8].contains(data.count) else { throw Self.unexpected(column) }
        let isNegative = data.first.map { $0 >= 0x80 } ?? false
        let bits = data.reduce(isNegative ? UInt64.max : 0) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: bits)
    }

    func integer(_ column: Int) throws -> Int64 {
        guard let number = try optionalInteger(column) else { throw Self.unexpected(column) }
        return number
    }

    /// A number of a table that other programs can write: what can't be is taken for the nearest that can.
    ///
    /// - parameter max: The largest. Sums of a few of the usual one fit into 64 bits.
    func natural(_ column: Int, upTo max: Int64 = 1 << 60) throws -> Int64 {
        min(Swift.max(try integer(column), 0), max)
    }

    func optionalBytes(_ column: Int) throws -> Data? { try value(column) }

    func bytes(_ column: Int) throws -> Data {
        guard let data = try value(column) else { throw Self.unexpected(column) }
        return data
    }

    func text(_ column: Int) throws -> String { String(decoding: try bytes(column), as: UTF8.self) }

    func optionalText(_ column: Int) throws -> String? {
        try value(column).map { String(decoding: $0, as: UTF8.self) }
    }

    func bool(_ column: Int) throws -> Bool { try bytes(column).first == 1 }
}
