import CipherStore
import RawLoops

/// What a page costs that is read from the file or written to it: C loops on a plain file, and on encrypted ones with each
/// of the MACs that the engine has. The library is the same for all of them, since SQLCipher without a key is SQLite.
func measureEncryption(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.encryption)
    let macs =
        EngineFeatures.current.supportsFormat4
        ? [
            ("HMAC-SHA512", nil), ("HMAC-SHA256", "PRAGMA cipher_hmac_algorithm = HMAC_SHA256"),
            ("no MAC", "PRAGMA cipher_use_hmac = OFF"),
        ]
        : [("HMAC-SHA1", nil), ("no MAC", "PRAGMA cipher_use_hmac = OFF")]
    let files =
        [PageFile(name: "plain", isEncrypted: false, pragma: nil)]
        + macs.map { PageFile(name: $0.0, isEncrypted: true, pragma: $0.1) }
    let writes = files.map { file in
        Contestant(name: "pages written, \(file.name)") {
            let connection = try file.open(folder.newPath("\(file.name).db"))
            defer { _ = raw_close(connection) }
            let elapsed = try measure { try file.check(raw_pages_write(connection, Int64(count))) }
            try file.check(raw_pages_checkpoint(connection))
            return elapsed
        }
    }
    // The turns are one after another: so the files of the last one are there.
    let reads = files.map { file in
        Contestant(name: "pages read, \(file.name)") {
            let connection = try file.open(folder.path("\(file.name).db"))
            defer { _ = raw_close(connection) }
            return try measure {
                var found: Int64 = 0
                try file.check(raw_pages_read(connection, &found))
                guard found == count else { throw BenchmarkError(description: "rows are missing") }
            }
        }
    }
    return try [writes, reads].flatMap { contestants in
        let timings = try medianTimings(options, contestants)
        return timings.dropFirst().map {
            Comparison(.encryption, rowCount: count, $0, against: timings[0])
        }
    }
}

/// One of the files, and how it is opened.
private struct PageFile {
    /// A raw key and its salt, so that nothing is derived.
    private static let key = "x'" + String(repeating: "5a", count: 48) + "'"

    let name: String
    let isEncrypted: Bool
    let pragma: String?

    func open(_ path: String) throws -> OpaquePointer? {
        var connection: OpaquePointer?
        try check(raw_pages_open(path, isEncrypted ? Self.key : nil, pragma, &connection))
        return connection
    }

    func check(_ code: Int32) throws {
        guard code == 0 else {
            throw BenchmarkError(description: "SQLite returned \(code) for the file \(name)")
        }
    }
}
