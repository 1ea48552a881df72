import CipherStore
import Foundation

/// Reads a file of trips into a database: all of it, or nothing.
struct TripImport: Sendable {
    let database: DatabaseQueue
    /// How many rows there are between two calls of `onProgress`.
    var stride = 10_000

    /// Imports a file.
    ///
    /// Cancel the task, and the transaction is rolled back: the database is as it was.
    ///
    /// - parameters:
    ///     - path: The file, with one trip in each line after the first, which names the columns.
    ///     - onProgress: Called with the rows that are in, and the share of the file that is read, from 0 to 1.
    /// - returns: How many rows there were.
    /// - throws: ``LineError``, `CancellationError`, `DatabaseError`; what reading the file throws.
    func run(
        _ path: String, onProgress: @escaping @Sendable (_ rows: Int, _ share: Double) -> Void
    ) async throws -> Int {
        // Mapped, not read: the file may be larger than memory should be.
        let text = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        return try await database.write { db in
            try Trip.createTable(db)
            var (rows, number, position) = (0, 1, text.startIndex)
            while position < text.endIndex {
                let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
                if number > 1, end > position {
                    let line = String(decoding: text[position..<end], as: UTF8.self)
                    // One prepared statement serves all insertions.
                    try Trip(line: line[...], number: number).insert(db)
                    rows += 1
                    if rows.isMultiple(of: stride) {
                        onProgress(rows, Double(end) / Double(text.count))
                    }
                }
                number += 1
                position = min(text.endIndex, end + 1)
            }
            onProgress(rows, 1)
            return rows
        }
    }
}
