import Foundation
import Testing

@testable import CipherData

private enum Texts {
    @Table("note") struct Note: Identifiable {
        let id: UUID
        var text: String?
    }
}

private enum Bytes {
    @Table("note") struct Note: Identifiable {
        @Column(as: UUID.BytesRepresentation.self) let id: UUID
        var text: String?
    }
}

private enum Names {
    @Table("note") struct Note: Identifiable {
        let id: String
        var text: String?
    }
}

private enum Numbers {
    @Table("note") struct Unsigned {
        let id: UInt
        var text: String?
    }

    @Table("note") struct Truth {
        let id: Bool
        var text: String?
    }

    @Table("note") struct Moment {
        let id: Date
        var text: String?
    }
}

private enum Timed {
    @Table("events") struct Event: Codable, Equatable {
        let id: Int
        @Column(as: Date.UnixMillisecondsRepresentation.self) var start: Date
    }
}

/// What is known of rows.
@Suite(.timeLimit(.minutes(10))) struct SyncMetadataTests {
    private let id = "0e6a9c0e-1111-4222-8333-444455556666"

    @Test(arguments: ["TEXT", "BLOB"]) func aRowHasThemFromTheMomentItIsWritten(form: String) async throws {
        let pair = try SyncPair("CREATE TABLE note (id \(form) PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let key = form == "TEXT" ? "'\(id)'" : "X'\(id.replacing("-", with: ""))'"
        let request = SyncMetadata.find(.init(recordPrimaryKey: id.uppercased(), recordType: "note"))
        func found() async throws -> SyncMetadata? {
            try await pair.here.read { db in try request.fetchOne(db) }
        }
        #expect(try await found() == nil)
        let start = Date.now.addingTimeInterval(-1)
        try pair.here.execute("INSERT INTO note VALUES (\(key), 'milk')")
        let written = try #require(try await found())
        #expect(written.id.recordPrimaryKey == id && written.recordType == "note" && !written.isDeleted)
        #expect(written.userModificationTime > start)
        try await pair.engine.syncChanges()
        let sent = try #require(try await found())
        #expect(sent.id == written.id && !sent.isDeleted)
        // A change and a deletion by the other side.
        try pair.there.execute("UPDATE note SET text = 'tea'")
        try await pair.engine.syncChanges()
        let changed = try #require(try await found())
        #expect(changed.userModificationTime >= sent.userModificationTime)
        try pair.there.execute("DELETE FROM note")
        try await pair.engine.syncChanges()
        #expect(try await found()?.isDeleted == true)
        #expect(try await pair.here.read { db in try SyncMetadata.all.fetchCount(db) } == 1)
    }

    @Test func theyCanBeChosenAndSorted() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let start = Date.now
        try await pair.here.write { db in
            try Texts.Note.insert { Texts.Note(id: UUID(), text: "milk") }.execute(db)
            let gone = UUID()
            try Texts.Note.insert { Texts.Note(id: gone, text: "tea") }.execute(db)
            try Texts.Note.find(gone).delete().execute(db)
        }
        let (count, known) = try await pair.here.read { db in
            (
                try SyncMetadata.where {
                    $0.userModificationTime.gt(
                        #bind(start.addingTimeInterval(60), as: Date.UnixMillisecondsRepresentation.self))
                }.fetchCount(db),
                try SyncMetadata.where { $0.recordType.eq("note") && !$0.isDeleted }
                    .order { $0.userModificationTime.desc() }.fetchAll(db)
            )
        }
        #expect(count == 0)
        #expect(known.count == 1 && known[0].recordType == "note")
    }

    @Test func rowsAreJoinedToThem() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        try pair.here.execute("INSERT INTO note VALUES (upper('\(id)'), 'milk')")
        try await pair.here.read { db in
            let rows = try Texts.Note.join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }
                .select { ($0.text, $1.isDeleted) }.fetchAll(db)
            #expect(rows.map(\.0) == ["milk"] && rows.map(\.1) == [false])
            // A row of a table that is not tracked has none.
            let all = try Texts.Note.leftJoin(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }.fetchAll(db)
            #expect(all.count == 1 && all[0].1?.recordPrimaryKey == id)
        }
    }

    /// SQLite takes a table's name in any case.
    @Test func aTableMayBeSpelledOtherwise() async throws {
        let pair = try SyncPair("CREATE TABLE Note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["Note"])
        try pair.here.execute("INSERT INTO note VALUES ('\(id)', 'milk')")
        let (rows, found) = try await pair.here.read { db in
            (
                try Texts.Note.join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }.fetchAll(db),
                try SyncMetadata.find(.init(recordPrimaryKey: id, recordType: "NOTE")).fetchOne(db)
            )
        }
        #expect(rows.count == 1 && found?.recordType == "Note")
    }

    @Test func keysThatAreBytesAreJoinedToo() async throws {
        let pair = try SyncPair("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        try pair.here.execute("INSERT INTO note VALUES (X'\(id.replacing("-", with: ""))', 'milk')")
        let rows = try await pair.here.read { db in
            try Bytes.Note.join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }.fetchAll(db)
        }
        #expect(rows.map(\.0.text) == ["milk"] && rows.map(\.1.recordPrimaryKey) == [id])
    }

    /// A program writes any text into a key that is one.
    @Test func keysThatAreNoUUIDsAreComparedAsTheyAre() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let keys = ["A", "a", "\u{C4}1"]
        for key in keys { try pair.here.execute("INSERT INTO note VALUES ('\(key)', 'milk')") }
        let (rows, found) = try await pair.here.read { db in
            (
                try Names.Note.join(SyncMetadata.all) { $0.syncMetadataID.eq($1.id) }
                    .order { note, _ in note.id }.fetchAll(db),
                try keys.map { key in
                    try SyncMetadata.find(.init(recordPrimaryKey: key, recordType: "note")).fetchOne(db)
                }
            )
        }
        #expect(rows.map(\.0.id) == keys)
        #expect(rows.map(\.1.recordPrimaryKey) == keys)
        #expect(found.compactMap { $0?.recordPrimaryKey } == keys)
    }

    @Test func nothingHasToBeAttachedForThem() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        try pair.here.execute("INSERT INTO note VALUES ('\(id)', 'milk')")
        let count = try await pair.here.read { db throws in
            try db.attachMetadatabase()
            return try SyncMetadata.all.fetchCount(db)
        }
        #expect(count == 1)
    }

    @Test func aRowInSwiftKnowsWhichOneItIs() async throws {
        let uuid = try #require(UUID(uuidString: id))
        #expect(Texts.Note(id: uuid).syncMetadataID == .init(recordPrimaryKey: id, recordType: "note"))
        #expect(Bytes.Note(id: uuid).syncMetadataID == .init(recordPrimaryKey: id, recordType: "note"))
        #expect(Names.Note(id: "\u{C4}1").syncMetadataID.recordPrimaryKey == "\u{C4}1")
        #expect(Timed.Event(id: 7, start: .now).syncMetadataID.recordPrimaryKey == "7")
        let pair = try SyncPair("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let note = Bytes.Note(id: uuid, text: "milk")
        let found = try await pair.here.write { db throws in
            try Bytes.Note.insert { note }.execute(db)
            return try SyncMetadata.find(note.syncMetadataID).fetchOne(db)
        }
        #expect(found?.recordPrimaryKey == id)
    }

    /// They are texts in a column of texts.
    @Test func keysOfEachTypeAreFoundByTheirRows() async throws {
        let pair = try SyncPair("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, text TEXT)", ["note"])
        let unsigned = Numbers.Unsigned(id: 7)
        let truth = Numbers.Truth(id: true)
        let moment = Numbers.Moment(id: Date(timeIntervalSince1970: 1_700_000_000.125))
        let ids = [unsigned.syncMetadataID, truth.syncMetadataID, moment.syncMetadataID]
        let found = try await pair.here.write { db throws in
            try Numbers.Unsigned.insert { unsigned }.execute(db)
            try Numbers.Truth.insert { truth }.execute(db)
            try Numbers.Moment.insert { moment }.execute(db)
            return try ids.map { id in try SyncMetadata.find(id).fetchOne(db)?.id }
        }
        #expect(found.compactMap { $0 } == ids)
    }

    @Test func timesInMillisecondsAreReadFromTheJSONOfRows() throws {
        let folder = try TestFolder()
        let queue = try DatabaseQueue(path: folder.file("events.db"), configuration: .encrypted)
        let event = Timed.Event(id: 1, start: Date(timeIntervalSince1970: 1_700_000_000.125))
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE events (id INTEGER PRIMARY KEY, start INTEGER NOT NULL)")
            try Timed.Event.insert { event }.execute(db)
            let one = try Timed.Event.select { $0.jsonObject() }.fetchOne(db)
            #expect(one == event)
            let all = try Timed.Event.select { $0.jsonGroupArray() }.fetchOne(db)
            #expect(all == [event])
        }
    }

    @Test func timesAreStoredInMilliseconds() throws {
        let time = Date(timeIntervalSince1970: 1_700_000_000.125)
        #expect(
            Date.UnixMillisecondsRepresentation(queryOutput: time).queryBinding == .int(1_700_000_000_125))
        guard
            case .invalid = Date.UnixMillisecondsRepresentation(
                queryOutput: Date(timeIntervalSince1970: 1e300)
            )
            .queryBinding
        else {
            Issue.record("a date was stored that no number of milliseconds is for")
            return
        }
    }
}
