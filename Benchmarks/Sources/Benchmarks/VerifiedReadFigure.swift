import CipherStore
import Foundation
import RawLoops

/// What a read costs, and the check at its end: reads of one row, and reads of many, with `Configuration.verifiesReads` and
/// without; reads of one row also against a C loop with `BEGIN` and `COMMIT`.
func measureVerifiedReads(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let path = folder.newPath("verified.db")
    let count = options.rowCount(.verifiedRead)
    let queues = try [false, true].map { verifies in
        var configuration = Configuration()
        configuration.verifiesReads = verifies
        configuration.prepareDatabase { try $0.useRawKey(RawKey(hex: rawKeyDigits)) }
        configuration.journalMode = .wal
        return try DatabaseQueue(path: path, configuration: configuration)
    }
    try queues[0].write { db in
        try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL)")
        let statement = try db.cachedStatement(sql: "INSERT INTO t VALUES (?, ?, ?)")
        for number in 0..<count {
            try statement.execute(arguments: [number, "the text of row \(number)", Double(number) / 3])
        }
    }
    let raw = try RawConnection(path)
    var byteCount = 0
    let inC = Contestant(name: "C, one row a transaction") {
        try measure {
            try raw.check {
                raw_lookups($0, "SELECT a FROM t WHERE id = ?", Int64(count), &byteCount)
            }
        }
    }
    let small = try timings(options, queues, "one row a read", beside: [inC]) { queue in
        for number in 0..<count {
            let found = try queue.read { db in
                try String.fetchOne(
                    db.cachedStatement(sql: "SELECT a FROM t WHERE id = ?"), arguments: [number])
            }
            guard found != nil else { throw BenchmarkError(description: "a row is missing") }
        }
    }
    let large = try timings(options, queues, "all rows in a read") { queue in
        let length = try queue.read { db in
            var length = 0
            let rows = try Row.fetchCursor(db, sql: "SELECT a FROM t")
            while let row = try rows.next() { length += (row[0] as String).utf8.count }
            return length
        }
        guard length > count else { throw BenchmarkError(description: "rows are missing") }
    }
    guard byteCount > 0 else { throw BenchmarkError(description: "the C loop missed rows") }
    return [small, large].map { Comparison(.verifiedRead, rowCount: count, $0[1], against: $0[0]) }
        + [Comparison(.verifiedRead, rowCount: count, small[1], against: small[2], bar: 1.3)]
}

private func timings(
    _ options: Options, _ queues: [DatabaseQueue], _ name: String, beside others: [Contestant] = [],
    _ body: (DatabaseQueue) throws -> Void
) throws -> [Timing] {
    try withoutActuallyEscaping(body) { body in
        try medianTimings(
            options,
            zip(queues, ["not verified", "verified"]).map { queue, how in
                Contestant(name: "\(name), \(how)") { try measure { try body(queue) } }
            } + others)
    }
}
