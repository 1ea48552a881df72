import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Ten versions of an app, of which two are live at any time: nothing that either writes is lost.
@Suite struct YearOfMigrationsTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let schema = """
        CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT, stars INTEGER DEFAULT 0);
        CREATE TABLE tag (id BLOB PRIMARY KEY, name TEXT);
        """

    /// What each version of the app changes.
    private static let migrations: [@Sendable (Database) throws -> Void] = [
        { try $0.alter(table: "note") { $0.add(column: "colour", .text).defaults(to: "white") } },
        { try $0.alter(table: "note") { $0.rename(column: "title", to: "heading") } },
        { db in
            try db.execute(
                sql:
                    "CREATE TABLE comment (id BLOB PRIMARY KEY, note BLOB REFERENCES note(id) ON DELETE CASCADE, text TEXT)"
            )
        },
        { try $0.rename(table: "tag", to: "label") },
        { try $0.alter(table: "label") { $0.add(column: "rank", .integer) } },
        { try $0.alter(table: "note") { $0.drop(column: "stars") } },
        { db in
            // A rebuild, as one that changes a constraint.
            try db.execute(
                sql: """
                    CREATE TABLE note_new (id BLOB PRIMARY KEY, heading TEXT NOT NULL DEFAULT '', body TEXT, colour TEXT DEFAULT 'white');
                    INSERT INTO note_new SELECT id, coalesce(heading, ''), body, colour FROM note;
                    """)
            try db.drop(table: "note")
            try db.rename(table: "note_new", to: "note")
        },
        { try $0.alter(table: "comment") { $0.add(column: "likes", .integer).defaults(to: 0) } },
        { try $0.rename(table: "comment", to: "remark") },
        { try $0.alter(table: "label") { $0.drop(column: "rank") } },
    ]

    /// A device with an app of some version.
    private final class Device {
        let replica: TestReplica
        let letter: String
        var version = 0
        var written = 0

        init(_ replica: TestReplica, _ letter: String) {
            self.replica = replica
            self.letter = letter
        }

        func migrate(to target: Int) throws {
            while version < target {
                let migration = YearOfMigrationsTests.migrations[version]
                try replica.migrate("v\(version + 1) of \(letter)", migration)
                version += 1
            }
        }

        var heading: String { version >= 2 ? "heading" : "title" }
        var label: String { version >= 4 ? "label" : "tag" }
        var comment: String? { version >= 9 ? "remark" : version >= 3 ? "comment" : nil }

        private func next() -> Data {
            written += 1
            return Data([letter.utf8.first ?? 0, UInt8(written)] + Array(repeating: 7, count: 14))
        }

        /// Writes what this version of the app can. Returns the headings and texts that must not be lost.
        func write(_ month: Int) throws -> (notes: [String], comments: [String], labels: [String]) {
            let text = "\(letter) in \(month)"
            let note = next()
            try replica.execute(
                "INSERT INTO note (id, \(heading), body) VALUES (?, ?, ?)", [note, text, "body of " + text])
            if version >= 1 { try replica.execute("UPDATE note SET colour = ? WHERE id = ?", [text, note]) }
            try replica.execute("INSERT INTO \(label) (id, name) VALUES (?, ?)", [next(), text])
            if (5..<10).contains(version) {
                try replica.execute("UPDATE \(label) SET rank = \(month) WHERE name = ?", [text])
            }
            if version < 6 { try replica.execute("UPDATE note SET stars = \(month) WHERE id = ?", [note]) }
            guard let comment else { return ([text], [], [text]) }
            try replica.execute(
                "INSERT INTO \(comment) (id, note, text) VALUES (?, ?, ?)", [next(), note, text])
            if version >= 8 {
                try replica.execute("UPDATE \(comment) SET likes = \(month) WHERE text = ?", [text])
            }
            return ([text], [text], [text])
        }
    }

    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) | (state << 31)
        }
    }

    @Test(arguments: 1...Campaign.count(2, nightly: 40)) func nothingIsLostWithTwoVersionsLive(_ seed: Int)
        throws
    {
        var numbers = Numbers(state: UInt64(seed))
        let first = try stores.create("a.db", schema: Self.schema, tables: ["note", "tag"])
        let devices = [Device(first, "a"), Device(try stores.clone(first, as: "b.db"), "b")]
        var notes: [String] = []
        var comments: [String] = []
        var labels: [String] = []
        for month in 1...12 {
            for device in devices {
                // Somebody always lags behind, by up to three versions.
                let target = min(
                    Self.migrations.count, max(device.version, month - Int.random(in: 0...3, using: &numbers))
                )
                if month < 12 { try device.migrate(to: target) }
                if device.version >= 3 { try device.replica.synchronizer.track([device.comment ?? ""]) }
                let written = try device.write(month)
                notes += written.notes
                comments += written.comments
                labels += written.labels
            }
            if Int.random(in: 0...2, using: &numbers) > 0 { try devices[0].replica.sync(devices[1].replica) }
        }
        for device in devices {
            try device.migrate(to: Self.migrations.count)
            try device.replica.synchronizer.track(["remark"])
        }
        let (a, b) = (devices[0].replica, devices[1].replica)
        for _ in 0..<3 { try a.sync(b) }
        let tables = ["note", "label", "remark"]
        #expect(try a.dump(tables) == b.dump(tables))
        for replica in [a, b] {
            let found = try replica.queue.read { db in
                (
                    try String.fetchAll(
                        db, sql: "SELECT heading FROM note WHERE body = 'body of ' || heading ORDER BY 1"),
                    try String.fetchAll(
                        db,
                        sql:
                            "SELECT r.text FROM remark r JOIN note n ON n.id = r.note AND n.heading = r.text ORDER BY 1"
                    ),
                    try String.fetchAll(db, sql: "SELECT name FROM label ORDER BY 1")
                )
            }
            #expect(found.0 == notes.sorted())
            #expect(found.1 == comments.sorted())
            #expect(found.2 == labels.sorted())
            #expect(try replica.synchronizer.status().parkedCount == 0)
            #expect(try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }.isEmpty)
        }
    }
}
