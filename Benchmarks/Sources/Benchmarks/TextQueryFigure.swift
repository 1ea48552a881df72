import CipherStore
import Foundation

/// One small query that is given as text each time, beside a prepared statement in C: what is prepared once because the
/// text recurs, and what is prepared for each run.
func measureTextQuery(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.textQuery)
    let path = folder.newPath("text.db")
    let samples = Samples(count: 1000)
    let raw = try RawConnection(path)
    try raw.execute(Reading.createTable)
    _ = try raw.insert(samples, Reading.insert())
    let keys = samples.readings.map(\.id)
    let queue = try openQueue(path)
    let sql = Reading.select + " WHERE id = ?"
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "prepared in C") { try raw.query(sql, samples, count: count) },
            Contestant(name: "Row.fetchOne(db, sql:)") {
                try timeRows(queue, keys, count) { try Row.fetchOne($0, sql: sql, arguments: [$1]) }
            },
            Contestant(name: "T.fetchOne(db, key:)") {
                try timeRows(queue, keys, count) { try KeyedRow.fetchOne($0, key: $1)?.row }
            },
            Contestant(name: "T.filter(…).fetchOne") {
                try timeRows(queue, keys, count) {
                    try KeyedRow.filter(Column("id") == $1).fetchOne($0)?.row
                }
            },
            Contestant(name: "Row.fetchOne(statement)") {
                try timeRows(queue, keys, count) {
                    try Row.fetchOne($0.makeStatement(sql: sql), arguments: [$1])
                }
            },
        ])
    return timings.dropFirst().map { Comparison(.textQuery, rowCount: count, $0, against: timings[0]) }
}

/// A row of the table as a record.
private struct KeyedRow: FetchableRecord, TableRecord {
    static let databaseTableName = "reading"
    let row: Row

    init(row: Row) { self.row = row.copy() }
}

private func timeRows(
    _ queue: DatabaseQueue, _ keys: [UUID], _ count: Int, _ fetch: (Database, UUID) throws -> Row?
) throws -> Elapsed {
    var found = 0
    let elapsed = try measure {
        try queue.read { db in
            for index in 0..<count where try fetch(db, keys[index % keys.count]) != nil { found += 1 }
            try endRead(db)
        }
    }
    guard found == count else { throw BenchmarkError(description: "a row is missing") }
    return elapsed
}
