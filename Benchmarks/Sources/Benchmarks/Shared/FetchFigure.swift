#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

/// Rows of ten columns into structs: by position and by name, against C structs with copied texts.
func measureFetch(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.fetch)
    let path = folder.newPath("fetch.db")
    let raw = try RawConnection(path)
    try raw.execute(Reading.createTable)
    _ = try raw.insert(Samples(count: count), Reading.insert())
    let queue = try openQueue(path)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C structs") { try raw.fetch(Reading.select, expecting: count) },
            Contestant(name: "Row, by index") {
                try timeFetch(queue, expecting: count) { Reading(positionsOf: $0) }
            },
            Contestant(name: "Row, by name") {
                try timeFetch(queue, expecting: count) { Reading(namesOf: $0) }
            },
        ])
    return [
        Comparison(.fetch, rowCount: count, timings[1], against: timings[0], bar: 1.2),
        Comparison(.fetch, rowCount: count, timings[2], against: timings[0]),
    ]
}

/// Fetches into an array and returns how long it took, without the array's release.
@inline(__always)
private func timeFetch(
    _ queue: DatabaseQueue, expecting count: Int, _ decode: (Row) -> Reading
) throws -> Elapsed {
    var readings: [Reading] = []
    let elapsed = try measure {
        try queue.read { db in
            let rows = try Row.fetchCursor(db, sql: Reading.select)
            while let row = try rows.next() { readings.append(decode(row)) }
            try endRead(db)
        }
    }
    guard readings.count == count, readings.last?.sequence == count - 1 else {
        throw BenchmarkError(description: "the library missed rows")
    }
    return elapsed
}
