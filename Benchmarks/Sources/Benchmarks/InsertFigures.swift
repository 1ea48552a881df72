import CipherStore
import SyncEngine

/// Rows of ten columns in one transaction, each time into a new file.
func measureInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.insert))
    let site = InsertSite(folder: folder, samples: samples)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C loop") { try site.rawInsert("INSERT", tracked: false) },
            Contestant(name: "execute(arguments:)") { try site.insert("INSERT", tracked: false) },
            Contestant(name: "unchecked arguments") { try site.uncheckedInsert("INSERT") },
        ])
    return timings.dropFirst().map {
        Comparison(.insert, rowCount: samples.readings.count, $0, against: timings[0], bar: 1.5)
    }
}

/// The same rows into a table that is tracked, against one that is not.
func measureTrackedInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.tracked))
    let site = InsertSite(folder: folder, samples: samples)
    // Before 4.x an insert into a table with triggers opens a statement journal, which is
    // encrypted, unless a conflict can't undo more than the row.
    let isVersion4 = EngineFeatures.current.supportsFormat4
    let pairs: [(name: String, verb: String, isRaw: Bool, bar: Double?)] = [
        ("INSERT", "INSERT", false, isVersion4 ? 1.3 : nil),
        ("INSERT OR FAIL", "INSERT OR FAIL", false, isVersion4 ? 1.3 : 1.5),
        ("C, INSERT", "INSERT", true, nil),
        ("C, INSERT OR FAIL", "INSERT OR FAIL", true, nil),
    ]
    let contestants = pairs.flatMap { pair in
        [false, true].map { tracked in
            Contestant(name: pair.name + (tracked ? ", tracked" : "")) {
                try pair.isRaw
                    ? site.rawInsert(pair.verb, tracked: tracked) : site.insert(pair.verb, tracked: tracked)
            }
        }
    }
    let timings = try medianTimings(options, contestants)
    return pairs.enumerated().map { index, pair in
        Comparison(
            .tracked, rowCount: samples.readings.count, timings[2 * index + 1], against: timings[2 * index],
            bar: pair.bar)
    }
}

/// Inserts the samples into new files.
private struct InsertSite {
    let folder: StoreFolder
    let samples: Samples

    /// Makes a file with an empty table.
    private func makeStore(tracked: Bool) throws -> (path: String, queue: DatabaseQueue) {
        let path = folder.newPath("insert.db")
        let queue = try openQueue(path)
        try queue.write { try $0.execute(sql: Reading.createTable) }
        if tracked { _ = try Synchronizer(queue, tables: ["reading"]) }
        return (path, queue)
    }

    /// Inserts by the C loop.
    func rawInsert(_ verb: String, tracked: Bool) throws -> Elapsed {
        let (path, queue) = try makeStore(tracked: tracked)
        try queue.close()
        return try RawConnection(path).insert(samples, Reading.insert(verb))
    }

    /// Inserts by a cached statement that checks its arguments.
    func insert(_ verb: String, tracked: Bool) throws -> Elapsed {
        let queue = try makeStore(tracked: tracked).queue
        return try measure {
            try queue.write { db in
                let statement = try db.cachedStatement(sql: Reading.insert(verb))
                for reading in samples.readings { try statement.execute(arguments: reading.arguments) }
            }
        }
    }

    /// Inserts by a cached statement that takes its arguments as they are.
    func uncheckedInsert(_ verb: String) throws -> Elapsed {
        let queue = try makeStore(tracked: false).queue
        return try measure {
            try queue.write { db in
                let statement = try db.cachedStatement(sql: Reading.insert(verb))
                for reading in samples.readings {
                    statement.setUncheckedArguments(reading.arguments)
                    try statement.execute()
                }
            }
        }
    }
}
