import CipherStore
import SyncEngine

/// Changes of single rows of a table that is tracked, against those of one that is not.
func measureTracked(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.tracked))
    let inserts: [(name: String, verb: String, isRaw: Bool, bar: Double?)] = [
        ("INSERT", "INSERT", false, 1.3),
        ("INSERT OR FAIL", "INSERT OR FAIL", false, 1.3),
        ("C, INSERT", "INSERT", true, nil),
        ("C, INSERT OR FAIL", "INSERT OR FAIL", true, nil),
    ]
    let changes: [(name: String, sql: String)] = [
        ("UPDATE", "UPDATE reading SET note = ?, value = ? WHERE id = ?"),
        ("DELETE", "DELETE FROM reading WHERE id = ?"),
    ]
    let insertions = inserts.flatMap { insert in
        [false, true].map { tracked in
            let site = InsertSite(folder: folder, samples: samples, verb: insert.verb) { queue in
                if tracked { _ = try Synchronizer(queue, tables: ["reading"]) }
            }
            return Contestant(name: insert.name + (tracked ? ", tracked" : "")) {
                try insert.isRaw ? site.rawInsert() : site.insert()
            }
        }
    }
    let others = changes.flatMap { change in
        [false, true].map { tracked in
            Contestant(name: change.name + (tracked ? ", tracked" : "")) {
                try measureChanges(folder, samples, change.sql, isTracked: tracked)
            }
        }
    }
    let timings = try medianTimings(options, insertions + others)
    let bars = inserts.map(\.bar) + changes.map { _ in 1.3 }
    return bars.enumerated().map { index, bar in
        Comparison(
            .tracked, rowCount: samples.readings.count, timings[2 * index + 1], against: timings[2 * index],
            bar: bar)
    }
}

/// Changes each of the rows that a store has and, if it is tracked, has settled.
private func measureChanges(
    _ folder: StoreFolder, _ samples: Samples, _ sql: String, isTracked: Bool
) throws -> Elapsed {
    let queue = try openQueue(folder.newPath("changes.db"))
    try queue.write { try $0.execute(sql: Reading.createTable) }
    let synchronizer = isTracked ? try Synchronizer(queue, tables: ["reading"]) : nil
    try queue.write { db in
        let insertion = try db.cachedStatement(sql: Reading.insert())
        for reading in samples.readings { try insertion.execute(arguments: reading.arguments) }
    }
    _ = try synchronizer?.compact()
    return try measure {
        try queue.write { db in
            let statement = try db.cachedStatement(sql: sql)
            let isDeletion = sql.hasPrefix("DELETE")
            for reading in samples.readings {
                try statement.execute(
                    arguments: isDeletion ? [reading.id] : ["another note", reading.value + 1, reading.id])
            }
        }
    }
}
