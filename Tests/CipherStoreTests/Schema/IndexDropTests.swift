import CipherStore
import Testing

/// Indexes that are dropped by the columns they are on.
@Suite struct IndexDropTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER, isCaptain INTEGER, name TEXT UNIQUE);
                    CREATE INDEX player_on_teamId ON player (teamId);
                    CREATE INDEX player_on_teamId_name ON player (teamId, name);
                    """)
        }
        return queue
    }

    private func createdIndexes(_ db: Database) throws -> [String] {
        try db.indexes(on: "player").filter { $0.origin == .createIndex }.map(\.name).sorted()
    }

    @Test func theOnlyIndexOnTheColumnsIsDropped() throws {
        try makeQueue().write { db throws in
            try db.drop(indexOn: "player", columns: ["TEAMID"])
            let left = try createdIndexes(db)
            #expect(left == ["player_on_teamId_name"])
        }
    }

    @Test func nothingIsDroppedWhereTheColumnsHaveNoIndexOfTheirOwn() throws {
        try makeQueue().write { db throws in
            try db.drop(indexOn: "player", columns: ["name"])
            try db.drop(indexOn: "player", columns: ["isCaptain"])
            let left = try createdIndexes(db)
            #expect(left == ["player_on_teamId", "player_on_teamId_name"])
        }
    }

    @Test func aSecondIndexOnTheColumnsIsNotDroppedAlong() throws {
        try makeQueue().write { db throws in
            try db.execute(sql: "CREATE UNIQUE INDEX oneCaptain ON player (teamId) WHERE isCaptain")
            let error = #expect(throws: DatabaseError.self) {
                try db.drop(indexOn: "player", columns: ["teamId"])
            }
            let message = try #require(error?.message)
            #expect(message.contains("oneCaptain, player_on_teamId;"))
            let left = try createdIndexes(db)
            #expect(left == ["oneCaptain", "player_on_teamId", "player_on_teamId_name"])
        }
    }
}
