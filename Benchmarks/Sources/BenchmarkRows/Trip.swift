import CipherStore
import Foundation

/// A synthetic row of twenty columns, in the shape of a flight: a key, twelve integers (some of
/// them NULL), two floating-point numbers and five texts.
package enum Trip {
    package static let createTable = """
        CREATE TABLE trip (
            id BLOB PRIMARY KEY NOT NULL, year INTEGER, month INTEGER, day INTEGER, departure INTEGER,
            planned_departure INTEGER, departure_delay INTEGER, arrival INTEGER, planned_arrival INTEGER,
            arrival_delay INTEGER, carrier TEXT, flight INTEGER, tail TEXT, origin TEXT, destination TEXT,
            duration REAL, distance REAL, hour INTEGER, minute INTEGER, planned TEXT)
        """

    private static let places = ["EWR", "LGA", "JFK", "IAH", "MIA", "BQN", "ATL", "ORD", "FLL"]
    private static let carriers = ["UA", "AA", "B6", "DL", "EV", "MQ", "US", "WN"]

    package static func insert(_ count: Int, into db: Database) throws {
        // OR FAIL, because a plain INSERT into a tracked table is slow on SQLCipher 3.
        let parameters = Array(repeating: "?", count: 20).joined(separator: ", ")
        let statement = try db.cachedStatement(sql: "INSERT OR FAIL INTO trip VALUES (\(parameters))")
        for index in 0..<count { try statement.execute(arguments: arguments(index)) }
    }

    private static func arguments(_ index: Int) -> StatementArguments {
        // A multiplicative hash spreads the values in the same way each time.
        let mixed = Int(truncatingIfNeeded: UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15 >> 33)
        let (month, day, hour) = (1 + mixed % 12, 1 + mixed / 12 % 28, 5 + mixed / 336 % 18)
        let minute = mixed / 6048 % 60
        let delay: Int? = mixed % 41 == 0 ? nil : mixed % 97 - 20
        return [
            UUID.v7(), 2013, month, day, delay.map { hour * 100 + minute + $0 }, hour * 100 + minute, delay,
            delay.map { hour * 100 + 200 + $0 }, hour * 100 + 200, delay.map { $0 / 2 },
            carriers[mixed % carriers.count], mixed % 6000, "N\(10_000 + mixed % 4000)", places[mixed % 3],
            places[mixed % places.count], Double(40 + mixed % 300), Double(200 + mixed % 2400), hour, minute,
            "2013-\(month)-\(day)T\(hour):00:00Z",
        ]
    }
}
