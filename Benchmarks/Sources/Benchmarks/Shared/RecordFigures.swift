#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

/// Rows of mixed types into records, against C structs with copied texts and parsed dates.
func measureRecordFetch(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.recordFetch)
    let path = folder.newPath("visits.db")
    let raw = try RawConnection(path)
    try raw.execute(Visit.createTable)
    _ = try raw.insert(VisitSamples(count: count))
    let queue = try openQueue(path)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C structs") { try raw.fetchVisits(expecting: count) },
            Contestant(name: "init(row:), by index") {
                try timeFetch(queue, ManualVisit.self, expecting: count) { $0.visit.count }
            },
            Contestant(name: "Codable") {
                try timeFetch(queue, CodableVisit.self, expecting: count) { $0.count }
            },
        ])
    return [
        Comparison(.recordFetch, rowCount: count, timings[1], against: timings[0], bar: 1.1),
        Comparison(.recordFetch, rowCount: count, timings[2], against: timings[0], bar: 1.4),
    ]
}

/// Fetches records and returns how long it took, without the array's release.
private func timeFetch<Record: FetchableRecord>(
    _ queue: DatabaseQueue, _ type: Record.Type, expecting count: Int, position: (Record) -> Int
) throws -> Elapsed {
    var records: [Record] = []
    let elapsed = try measure {
        records = try queue.read { db in
            let records = try Record.fetchAll(db, sql: Visit.select)
            try endRead(db)
            return records
        }
    }
    guard records.count == count, records.last.map(position) == count - 1 else {
        throw BenchmarkError(description: "the library missed rows")
    }
    return elapsed
}

/// Records of mixed types in one transaction, each time into a new file.
func measureRecordInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = VisitSamples(count: options.rowCount(.recordInsert))
    let manual = samples.visits.map { ManualVisit($0) }
    let codable = samples.visits.map { CodableVisit($0) }
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C loop") {
                let path = folder.newPath("insert.db")
                let raw = try RawConnection(path)
                try raw.execute(Visit.createTable)
                return try raw.insert(samples)
            },
            Contestant(name: "insert, by hand") { try timeInsert(manual, folder) },
            Contestant(name: "insert, Codable") { try timeInsert(codable, folder) },
        ])
    let count = samples.visits.count
    return [
        Comparison(.recordInsert, rowCount: count, timings[1], against: timings[0], bar: 1.15),
        Comparison(.recordInsert, rowCount: count, timings[2], against: timings[0], bar: 1.4),
    ]
}

/// Inserts records into a new file.
private func timeInsert(_ records: [some PersistableRecord], _ folder: StoreFolder) throws -> Elapsed {
    let queue = try openQueue(folder.newPath("insert.db"))
    try queue.write { try $0.execute(sql: Visit.createTable) }
    return try measure {
        try queue.write { db in
            for record in records { try record.insert(db) }
        }
    }
}
