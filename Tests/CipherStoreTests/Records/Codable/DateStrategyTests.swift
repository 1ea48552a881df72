import CipherStore
import Foundation
import Testing

/// Dates that are stored as numbers of milliseconds.
@Suite struct DateStrategyTests {
    private struct Photo: Codable, FetchableRecord, PersistableRecord {
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .millisecondsSince1970
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .millisecondsSince1970
        }

        var id: Int
        var takenAt: Date
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE photo (id INTEGER PRIMARY KEY, takenAt INTEGER)")
        }
        return queue
    }

    @Test func millisecondsAreWrittenAsTheyWereRead() throws {
        var generator = SeededGenerator(seed: 1)
        let year = 31_556_952_000
        var numbers = [67_952_082_606, -1, -99_998, 0]
        for years in [-2000 ... -1, 0...3, 3...28, 30...41, 41...60, 1000...8000] {
            let range = years.lowerBound * year...years.upperBound * year
            for _ in 0..<50 { numbers.append(Int.random(in: range, using: &generator)) }
        }
        let written = try makeQueue().write { [numbers] (db: Database) throws -> [Int] in
            for (id, number) in numbers.enumerated() {
                try db.execute(sql: "INSERT INTO photo VALUES (?, ?)", arguments: [id, number])
            }
            for photo in try Photo.fetchAll(db) { try photo.update(db) }
            return try Int.fetchAll(db, sql: "SELECT takenAt FROM photo ORDER BY id")
        }
        #expect(written == numbers)
    }

    @Test func fractionsOfAMillisecondAreLeftOut() throws {
        let milliseconds = [1000.4, 1000.9, 1000.99, -0.4]
        let written = try makeQueue().write { (db: Database) throws -> [Int] in
            for (id, number) in milliseconds.enumerated() {
                try Photo(id: id, takenAt: Date(timeIntervalSince1970: number / 1000)).insert(db)
            }
            return try Int.fetchAll(db, sql: "SELECT takenAt FROM photo ORDER BY id")
        }
        #expect(written == [1000, 1000, 1000, -1])
    }
}
