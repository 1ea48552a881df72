import CipherStore
import Foundation
import SyncEngine
import Testing

/// The code of "Records and requests" and "Observing".
@Suite struct RecordSamples {
    let place: SamplePlace
    let notes: DatabaseQueue

    init() throws {
        place = try SamplePlace()
        notes = try place.notes()
    }

    @Test func recordsAreWritten() async throws {
        // sample: writing
        let id = UUID.v7()
        try await notes.write { db in
            var note = Note(id: id, title: "Groceries", body: "milk", stars: 2)
            try note.insert(db)

            note.stars = 3
            try note.update(db)  // all columns
            try note.updateChanges(db) { $0.title = "Groceries for Sunday" }  // what changed
        }
        // end
        let title = try await notes.read { try Note.find($0, key: id).title }
        #expect(title == "Groceries for Sunday")
        // sample: deleting
        try await notes.write { db in
            try Note.filter(Note.Columns.stars < 2).deleteAll(db)
            try Note.filter(Note.Columns.title == "Ideas").updateAll(db, Note.Columns.stars.set(to: 5))
        }
        // end
    }

    @Test func requestsAreFetched() async throws {
        try await notes.write { db in
            for (title, stars) in [("Groceries", 2), ("Holidays", 5), ("Ideas", 4)] {
                try Note(id: .v7(), title: title, body: nil, stars: stars).insert(db)
            }
        }
        // sample: requests
        let best = try await notes.read { db in
            try Note
                .filter(Note.Columns.stars >= 4)
                .order(Note.Columns.stars.desc, Note.Columns.title)
                .limit(10)
                .fetchAll(db)
        }
        // end
        #expect(best.map(\.title) == ["Holidays", "Ideas"])
        // sample: sql
        let titles = try await notes.read { db in
            try String.fetchAll(db, sql: "SELECT title FROM note WHERE stars > ?", arguments: [3])
        }
        // end
        #expect(titles.count == 2)
        // sample: cursor
        let length = try await notes.read { db in
            var length = 0
            let cursor = try Note.fetchCursor(db)
            while let note = try cursor.next() {
                length += note.title.count
            }
            return length
        }
        // end
        #expect(length == 22)
    }

    @Test func valuesAreObserved() async throws {
        func show(_ titles: [String]) -> Bool { titles == ["Groceries"] }
        let notes = notes
        let observing = Task {
            // sample: observing
            let observation = ValueObservation.tracking { db in
                try Note.order(Note.Columns.title).fetchAll(db).map(\.title)
            }
            for try await titles in observation.values(in: notes) {
                if show(titles) { break }
            }
            // end
        }
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 0).insert($0) }
        try await observing.value
    }

    @Test func whatAPeerChangedIsObserved() async throws {
        let place = try SamplePlace()
        let (notes, phone) = try place.replicas()
        let observing = Task {
            // sample: observing-sync
            let observation = ValueObservation.tracking { db in try Note.fetchCount(db) }
            for try await count in observation.values(in: notes) where count > 0 {
                return count  // what a synchronization brings is observed as any other write
            }
            return 0
            // end
        }
        try await phone.write { try Note(id: .v7(), title: "Books", body: nil, stars: 0).insert($0) }
        try phone.close()
        let synchronizer = try Synchronizer(notes)
        _ = try await synchronizer.pull(
            from: StoreTransport(
                path: place.path("phone.db"), configuration: place.configuration("battery staple")))
        #expect(try await observing.value == 1)
    }

    @Test func commitsAreObserved() async throws {
        let notes = notes
        // sample: observing-region
        let observation = DatabaseRegionObservation(tracking: Note.all())
        let changes = AsyncStream<Void> { continuation in
            let cancellable = observation.start(in: notes) { _ in
                continuation.finish()
            } onChange: { _ in
                continuation.yield()
            }
            continuation.onTermination = { _ in cancellable.cancel() }
        }
        // end
        try await notes.write { try Note(id: .v7(), title: "Groceries", body: nil, stars: 0).insert($0) }
        for await _ in changes { break }
    }
}
