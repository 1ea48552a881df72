import CipherStore
import SyncEngine

/// The same rows into a table that is tracked, against one that is not.
func measureTrackedInsert(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let samples = Samples(count: options.rowCount(.tracked))
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
            let site = InsertSite(folder: folder, samples: samples, verb: pair.verb) { queue in
                if tracked { _ = try Synchronizer(queue, tables: ["reading"]) }
            }
            return Contestant(name: pair.name + (tracked ? ", tracked" : "")) {
                try pair.isRaw ? site.rawInsert() : site.insert()
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
