import CipherStore
import Testing

private struct Guest: Codable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int64
    var email: String
}

/// A record of a table that the database does not have.
private struct Ghost: TableRecord {}

private struct Seat: Codable, FetchableRecord, PersistableRecord {
    var rank: Int
    var number: Int
    var name: String
}

/// The errors that an app throws for rows that its own requests did not find.
@Suite struct RecordNotFoundTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE guest (id INTEGER PRIMARY KEY, email TEXT UNIQUE);
                    CREATE TABLE seat (rank INTEGER, number INTEGER, name TEXT, PRIMARY KEY (rank, number));
                    """)
        }
        return queue
    }

    private func key(of error: any Error) -> [String: DatabaseValue]? {
        guard let error = error as? RecordError else { return nil }
        switch error {
        case .recordNotFound(_, let key): return key
        }
    }

    @Test func theErrorNamesThePrimaryKey() throws {
        try makeQueue().read { db throws in
            let errors = [Guest.recordNotFound(db, key: 7), Guest.recordNotFound(db, id: 7)]
            for error in errors {
                #expect(key(of: error) == ["id": 7.databaseValue])
                #expect("\(error)" == "Key not found in table guest: [id:7]")
            }
        }
    }

    @Test func theErrorNamesAUniqueKey() throws {
        try makeQueue().read { db throws in
            let expected = ["email": "a@example.com".databaseValue]
            #expect(key(of: Guest.recordNotFound(db, key: ["email": "a@example.com"])) == expected)
            #expect(key(of: Guest.recordNotFound(key: ["email": "a@example.com"])) == expected)
            #expect(key(of: Guest.recordNotFound(key: ["email": nil])) == ["email": .null])
        }
    }

    @Test func theErrorOfARecordHasAllColumnsOfItsKey() throws {
        try makeQueue().read { db throws in
            let error = Seat(rank: 2, number: 3, name: "x").recordNotFound(db)
            #expect(key(of: error) == ["rank": 2.databaseValue, "number": 3.databaseValue])
        }
    }

    @Test func aKeyThatCannotBeLookedUpIsADatabaseError() throws {
        try makeQueue().read { db throws in
            let error = Ghost.recordNotFound(db, key: 1)
            #expect(error is DatabaseError)
        }
    }
}
