import Foundation
import Testing

@testable import CipherStore

/// A store that a killed process left with a rollback journal, which somebody without the key has
/// changed: an error, the last committed state, or what `docs/threat-model.md` names.
@Suite struct JournalTamperingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    /// The files of a store as they are in the middle of a transaction.
    private struct Hot {
        let store: StatefulStore
        var file: [UInt8] = []
        var journal: [UInt8] = []
        /// A journal of the transaction before, which leads back to state 0.
        var older: [UInt8] = []
        var layout: JournalLayout { JournalLayout(journal, pageSize: store.settings.pageSize) }

        func outcome(_ journal: [UInt8]?) throws -> StatefulStore.Outcome {
            try store.put(file, "-journal", journal)
            return try store.outcome()
        }
    }

    /// A store in state 1, and a transaction to state 2 that has written some of its pages.
    private func hot(
        _ name: String, _ settings: CipherSettings, passphrase: String = "secret"
    ) throws -> Hot {
        var hot = Hot(store: try StatefulStore(folder.file(name), settings, passphrase: passphrase))
        let queue = try hot.store.open()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 4; PRAGMA cache_spill = 1")
            for state in [1, 2] {
                try db.execute(sql: "BEGIN IMMEDIATE")
                try StatefulStore.update(db, to: state)
                (hot.file, hot.older) = (try hot.store.bytes(), hot.journal)
                hot.journal = try hot.store.bytes("-journal")
                try db.execute(sql: state == 1 ? "COMMIT" : "ROLLBACK")
            }
        }
        try queue.close()
        return hot
    }

    @Test(arguments: TamperingTests.formats) func aJournalThatNobodyChangedLeadsBackToTheLastCommit(
        settings: CipherSettings
    ) throws {
        let hot = try hot("a.db", settings)
        #expect(hot.layout.records.count >= 4)
        #expect(try hot.outcome(hot.journal) == .state(1))
        #expect(FileIdentity(path: hot.store.path + "-journal") == nil)
        // Without it the file is what the unfinished transaction has written so far.
        #expect(try hot.outcome(nil) == .mixed)
    }

    @Test(arguments: TamperingTests.formats) func eachFieldOfAHeaderThatIsChangedDoesNoHarm(
        settings: CipherSettings
    ) throws {
        let hot = try hot("a.db", settings)
        let headers = hot.layout.headers
        for header in headers.prefix(2) + headers.suffix(1) {
            for (field, offset) in JournalLayout.headerFields {
                let range = (header + offset)..<(header + offset + 4)
                for (name, change) in Self.changes {
                    var changed = hot.journal
                    changed.replaceSubrange(range, with: change(Array(changed[range])))
                    let outcome = try hot.outcome(changed)
                    hot.store.expectNamed(outcome, orState: 1, "header at \(header), \(field), \(name)")
                }
            }
        }
    }

    @Test(arguments: TamperingTests.formats) func eachPartOfARecordThatIsChangedDoesNoHarm(
        settings: CipherSettings
    ) throws {
        let hot = try hot("a.db", settings)
        let layout = hot.layout
        let (size, reserved) = (settings.pageSize, settings.reservedByteCount)
        var generator = SeededGenerator(seed: 4)
        for (index, record) in layout.records.enumerated().shuffled(using: &generator).prefix(8) {
            let places = [
                "number": 0, "content": 4 + size / 2, "IV": 4 + size - reserved + 3,
                "MAC": 4 + size - reserved + 17, "checksum": 4 + size,
            ]
            for (place, offset) in places {
                let range = (record + offset)..<(record + offset + 4)
                for (name, change) in Self.changes {
                    for isRepaired in [false, true] {
                        var changed = hot.journal
                        changed.replaceSubrange(range, with: change(Array(changed[range])))
                        if isRepaired { layout.repair(&changed, record: record) }
                        let outcome = try hot.outcome(changed)
                        hot.store.expectNamed(outcome, orState: 1, "record \(index), \(place), \(name)")
                        // What carries no MAC is not read.
                        if isRepaired, ["content", "IV", "MAC"].contains(place) {
                            #expect(
                                [.refused, .state(1)].contains(outcome), "record \(index), \(place), \(name)")
                        }
                    }
                }
            }
        }
    }

    private static let changes: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
        ("flip", { $0.dropLast() + [$0[3] ^ 1] }),
        ("zero", { [UInt8](repeating: 0, count: $0.count) }),
        ("ones", { [UInt8](repeating: 0xFF, count: $0.count) }),
    ]

    @Test(arguments: TamperingTests.formats) func pagesThatChangePlacesInTheJournalAreRefused(
        settings: CipherSettings
    ) throws {
        let hot = try hot("a.db", settings)
        let records = hot.layout.records
        for (index, record) in records.dropLast().enumerated() {
            let next = records[index + 1]
            var swapped = hot.journal
            for byte in 0..<4 { swapped.swapAt(record + byte, next + byte) }
            #expect(try hot.outcome(swapped) == .refused, "records \(index), \(index + 1)")
        }
    }

    @Test(arguments: TamperingTests.formats) func aJournalThatIsCutOffOrLongerLeadsToTheStatesThatAreNamed(
        settings: CipherSettings
    ) throws {
        let hot = try hot("a.db", settings)
        let layout = hot.layout
        var generator = SeededGenerator(seed: 6)
        let records = layout.records.shuffled(using: &generator).prefix(8)
        for record in [0, 8, 28, layout.headers[0] + 511] + records {
            for offset in [0, layout.recordByteCount / 2] {
                let outcome = try hot.outcome(Array(hot.journal.prefix(record + offset)))
                hot.store.expectNamed(outcome, orState: 1, "\(record + offset) bytes")
            }
        }
        for more in [[0], [UInt8](repeating: 0xAA, count: 5000), hot.journal] {
            #expect(try hot.outcome(hot.journal + more) == .state(1))
        }
        #expect(try threatModel().contains("A rollback journal cut off, deleted, or changed"))
    }

    @Test(arguments: TamperingTests.formats) func anotherJournalPutInItsPlaceLeadsToTheStatesThatAreNamed(
        settings: CipherSettings
    ) throws {
        var hot = try hot("a.db", settings)
        let (unfinished, older) = (hot.file, hot.older)
        _ = try hot.outcome(hot.journal)
        hot.file = try hot.store.bytes()
        // An older one of this store: what it holds is old, the rest is not.
        #expect(!older.isEmpty)
        for file in [hot.file, unfinished] {
            hot.file = file
            let outcome = try hot.outcome(older)
            hot.store.expectNamed(outcome, orState: 0, "an older journal")
            // Of another store, under the same passphrase and under another one.
            for (name, passphrase) in [("b.db", "secret"), ("c.db", "other")] {
                let other = try self.hot(name, settings, passphrase: passphrase)
                #expect(try hot.outcome(other.journal) == .refused, "\(name)")
                try FileManager.default.removeItem(atPath: other.store.path)
            }
        }
        #expect(try threatModel().contains("An old rollback journal or WAL put back"))
    }
}
