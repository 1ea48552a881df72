#if canImport(CipherStore)
    import CipherStore
#else
    import GRDB
#endif

/// Rows of ten columns in one transaction, each time into a new file.
func measureInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.insert))
    let site = InsertSite(folder: folder, samples: samples)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "C loop") { try site.rawInsert() },
            Contestant(name: "execute(arguments:)") { try site.insert() },
            Contestant(name: "unchecked arguments") { try site.uncheckedInsert() },
        ])
    return timings.dropFirst().map {
        Comparison(.insert, rowCount: samples.readings.count, $0, against: timings[0], bar: 1.5)
    }
}

/// Inserts the samples into new files.
struct InsertSite {
    let folder: StoreFolder
    let samples: Samples
    /// How a row is inserted: `INSERT` with or without a conflict clause.
    var verb = "INSERT"
    /// What is done with a new store and its table before anything is inserted.
    var prepare: (DatabaseQueue) throws -> Void = { _ in }

    /// Makes a file with an empty table.
    private func makeStore() throws -> (path: String, queue: DatabaseQueue) {
        let path = folder.newPath("insert.db")
        let queue = try openQueue(path)
        try queue.write { try $0.execute(sql: Reading.createTable) }
        try prepare(queue)
        return (path, queue)
    }

    /// Inserts by the C loop.
    func rawInsert() throws -> Elapsed {
        let (path, queue) = try makeStore()
        try queue.close()
        return try RawConnection(path).insert(samples, Reading.insert(verb))
    }

    /// Inserts by a cached statement that checks its arguments.
    func insert() throws -> Elapsed {
        let queue = try makeStore().queue
        return try measure {
            try queue.write { db in
                let statement = try db.cachedStatement(sql: Reading.insert(verb))
                for reading in samples.readings { try statement.execute(arguments: reading.arguments) }
            }
        }
    }

    /// Inserts by a cached statement that takes its arguments as they are.
    func uncheckedInsert() throws -> Elapsed {
        let queue = try makeStore().queue
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
