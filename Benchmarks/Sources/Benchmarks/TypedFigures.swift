import Foundation
import TypedQueries

/// Rows of ten columns into structs of a typed table, against C structs with copied texts.
func measureTypedFetch(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.typedFetch)
    let path = folder.newPath("typed.db")
    let raw = try RawConnection(path)
    try raw.execute(Reading.createTable)
    _ = try raw.insert(Samples(count: count), Reading.insert())
    let queue = try openQueue(path)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C structs") { try raw.fetch(Reading.select, expecting: count) },
            Contestant(name: "T.all.fetchAll") {
                var rows: [TypedReading] = []
                let elapsed = try measure {
                    rows = try queue.read { db in
                        let rows = try TypedReading.all.fetchAll(db)
                        try endRead(db)
                        return rows
                    }
                }
                try check(rows.count == count && rows.last?.sequence == count - 1)
                return elapsed
            },
        ])
    return [Comparison(.typedFetch, rowCount: count, timings[1], against: timings[0], bar: 1.15)]
}

/// Structs of a typed table in one transaction, each by a statement of its own, into a new file each time.
func measureTypedInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.typedInsert))
    let site = InsertSite(folder: folder, samples: samples)
    let rows = samples.readings.map { TypedReading($0) }
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C loop") { try site.rawInsert() },
            Contestant(name: "T.insert { row }") {
                let queue = try openQueue(folder.newPath("insert.db"))
                try queue.write { try $0.execute(sql: Reading.createTable) }
                return try measure {
                    try queue.write { db in
                        for row in rows { try TypedReading.insert { row }.execute(db) }
                    }
                }
            },
        ])
    return [
        Comparison(.typedInsert, rowCount: rows.count, timings[1], against: timings[0], bar: 1.4)
    ]
}

/// One small query, which is built, run and decoded again and again in one read, against a prepared statement.
func measureTypedQuery(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.typedQuery)
    let path = folder.newPath("query.db")
    let samples = Samples(count: 1000)
    let raw = try RawConnection(path)
    try raw.execute(Reading.createTable)
    _ = try raw.insert(samples, Reading.insert())
    let keys = samples.readings.map(\.id)
    let queue = try openQueue(path)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "prepared in C") {
                try raw.query(Reading.select + " WHERE id = ?", samples, count: count)
            },
            Contestant(name: "T.find(id).fetchOne") {
                try timeQueries(queue, keys, count) { db, id in try TypedReading.find(id).fetchOne(db) }
            },
            Contestant(name: "T.where { … }.fetchAll") {
                try timeQueries(queue, keys, count) { db, id in
                    try TypedReading.where { $0.id.eq(id) }.fetchAll(db).first
                }
            },
        ])
    return timings.dropFirst().map {
        Comparison(.typedQuery, rowCount: count, $0, against: timings[0], bar: 1.5)
    }
}

@inline(__always)
private func timeQueries(
    _ queue: DatabaseQueue, _ keys: [UUID], _ count: Int,
    _ fetch: (Database, UUID) throws -> TypedReading?
) throws -> Elapsed {
    var rows: [TypedReading] = []
    let elapsed = try measure {
        try queue.read { db in
            for index in 0..<count {
                if let row = try fetch(db, keys[index % keys.count]) { rows.append(row) }
            }
            try endRead(db)
        }
    }
    try check(rows.count == count)
    return elapsed
}

private func check(_ condition: Bool) throws {
    if !condition { throw BenchmarkError(description: "the library missed rows") }
}
