import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// A store with a WAL to recover, which somebody without the key has changed: an error, a committed
/// state, or what `docs/threat-model.md` names.
@Suite struct WALTamperingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    /// A store in state 1, and a WAL that holds the commits of states 2 and 3.
    private struct Recoverable {
        let store: StatefulStore
        var file: [UInt8] = []
        var wal: [UInt8] = []
        /// The WAL of the commit before, which led from state 0 to state 1.
        var older: [UInt8] = []
        var frameByteCount: Int { store.settings.pageSize + 24 }
        var frameCount: Int { (wal.count - 32) / frameByteCount }

        func frame(_ index: Int) -> Range<Int> {
            (32 + index * frameByteCount)..<(32 + (index + 1) * frameByteCount)
        }

        func outcome(_ wal: [UInt8]?) throws -> StatefulStore.Outcome {
            try store.put(file, "-wal", wal)
            return try store.outcome()
        }

        /// The outcome of a WAL whose checksums are made right again.
        func outcome(repairing wal: [UInt8]) throws -> StatefulStore.Outcome {
            var wal = wal
            WALForger.repair(&wal, pageSize: store.settings.pageSize)
            return try outcome(wal)
        }
    }

    private func recoverable(
        _ name: String, _ settings: CipherSettings, passphrase: String = "secret"
    ) throws -> Recoverable {
        var made = Recoverable(store: try StatefulStore(folder.file(name), settings, passphrase: passphrase))
        let queue = try made.store.open()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
            func commit(_ state: Int) throws {
                try db.execute(sql: "BEGIN IMMEDIATE")
                try StatefulStore.update(db, to: state)
                try db.execute(sql: "COMMIT")
            }
            try commit(1)
            made.older = try made.store.bytes("-wal")
            _ = try db.checkpoint(.truncate)
            made.file = try made.store.bytes()
            try commit(2)
            try commit(3)
            made.wal = try made.store.bytes("-wal")
        }
        try queue.close()
        return made
    }

    @Test(arguments: TamperingTests.formats) func aWALThatNobodyChangedIsRecovered(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        #expect(made.frameCount >= 12)
        #expect(try made.outcome(made.wal) == .state(3))
        #expect(try made.outcome(nil) == .state(1))
    }

    /// SQLite takes a WAL up to its first frame that is not right, and then up to the last commit.
    @Test(arguments: TamperingTests.formats) func aChangedWALLeadsToACommittedState(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        var places = (0..<8).map { ("header", $0 * 4) }
        var generator = SeededGenerator(seed: 7)
        let frameCount = Campaign.count(4, nightly: 12)
        for index in Array(0..<made.frameCount).shuffled(using: &generator).prefix(frameCount) {
            places += [0, 4, 8, 12, 16, 20, 24, 24 + settings.pageSize / 2].map {
                ("frame", made.frame(index).lowerBound + $0)
            }
        }
        for (what, offset) in places {
            for value in [made.wal[offset + 3] ^ 1, 0, 0xFF] where value != made.wal[offset + 3] {
                var changed = made.wal
                changed[offset + 3] = value
                let outcome = try made.outcome(changed)
                #expect([.state(1), .state(2)].contains(outcome), "\(what), byte \(offset): \(outcome)")
            }
        }
    }

    @Test(arguments: TamperingTests.formats) func aWALThatIsCutOffOrLongerLeadsToACommittedState(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        for index in Campaign.every(3, of: 0..<made.frameCount) {
            for offset in [0, 10, made.frameByteCount / 2] {
                let count = made.frame(index).lowerBound + offset
                let outcome = try made.outcome(Array(made.wal.prefix(count)))
                #expect([.state(1), .state(2)].contains(outcome), "\(count) bytes: \(outcome)")
            }
        }
        for more in [[0], [UInt8](repeating: 0xAA, count: 9000), Array(made.wal[made.frame(0)]), made.wal] {
            #expect(try made.outcome(made.wal + more) == .state(3))
        }
        for count in [0, 1, 31] { #expect(try made.outcome(Array(made.wal.prefix(count))) == .state(1)) }
    }

    /// Checksums keep nobody off. The MAC of a page covers its number.
    @Test(arguments: TamperingTests.formats) func aForgedFrameIsRefusedWhateverItsChecksum(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        let last = made.frameCount - 1
        // The frames of the last commit are those that count.
        let first = (0..<last).last { made.wal.bigEndian(at: made.frame($0).lowerBound + 4) > 0 }
        var refusals = 0
        for index in try #require(first) + 1...last {
            let start = made.frame(index).lowerBound
            let reserved = 24 + settings.pageSize - settings.reservedByteCount
            for offset in [24 + 16, reserved + 3, reserved + 17] {
                var forged = made.wal
                forged[start + offset] ^= 1
                // Pages that hold nothing are not read.
                let outcome = try made.outcome(repairing: forged)
                #expect(
                    [.refused, .state(3)].contains(outcome), "frame \(index), byte \(offset): \(outcome)")
                if outcome == .refused { refusals += 1 }
            }
            guard index > (first ?? 0) + 1 else { continue }
            // As the page of the frame before, whose place it takes; its own page stays an old one.
            var moved = made.wal
            moved.replaceSubrange(start..<(start + 4), with: made.wal[made.frame(index - 1)].prefix(4))
            let outcome = try made.outcome(repairing: moved)
            made.store.expectNamed(outcome, orState: 3, "frame \(index) as page of the one before")
            if outcome == .refused { refusals += 1 }
        }
        #expect(refusals > 3 * (last - (first ?? 0)) / 2)
    }

    /// The number of pages after a commit is not authenticated, but page 1 says it, too.
    @Test(arguments: TamperingTests.formats) func aForgedNumberOfPagesIsNoticedOrMeansNothing(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        let last = made.frame(made.frameCount - 1).lowerBound
        let count = made.wal.bigEndian(at: last + 4)
        for forged in Array(1..<count) + [count + 1, count + 100, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            var wal = made.wal
            for byte in 0..<4 {
                wal[last + 4 + byte] = UInt8(truncatingIfNeeded: forged >> UInt32(24 - 8 * byte))
            }
            let outcome = try made.outcome(repairing: wal)
            #expect(
                [.refused, .state(3)].contains(outcome), "\(forged) pages instead of \(count): \(outcome)")
        }
    }

    /// Whoever can write the WAL chooses which versions of the pages count, of those that ever were
    /// in a WAL or in the file.
    @Test(arguments: TamperingTests.formats) func aWALWithoutOneFrameIsMixedAndNamed(
        settings: CipherSettings
    ) throws {
        let made = try recoverable("a.db", settings)
        var outcomes: Set<String> = []
        for index in 0..<(made.frameCount - 1) {
            var without = made.wal
            without.removeSubrange(made.frame(index))
            let outcome = try made.outcome(repairing: without)
            outcomes.insert(outcome.description)
            made.store.expectNamed(outcome, orState: 3, "without frame \(index)")
        }
        #expect(outcomes.contains("mixed"))
        #expect(try threatModel().contains("Frames of a WAL left out, with checksums made right"))
    }

    @Test(arguments: TamperingTests.formats) func anotherWALPutInItsPlaceLeadsToTheStatesThatAreNamed(
        settings: CipherSettings
    ) throws {
        var made = try recoverable("a.db", settings)
        let middle = made.file
        _ = try made.outcome(made.wal)
        let queue = try made.store.open()
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
        made.file = try made.store.bytes()
        for file in [made.file, middle] {
            made.file = file
            let outcome = try made.outcome(made.older)
            made.store.expectNamed(outcome, orState: 1, "an older WAL")
            for (name, passphrase) in [("b.db", "secret"), ("c.db", "other")] {
                let other = try recoverable(name, settings, passphrase: passphrase)
                #expect(try made.outcome(other.wal) == .refused, "\(name)")
                try FileManager.default.removeItem(atPath: other.store.path)
            }
        }
        #expect(try threatModel().contains("An old rollback journal or WAL put back"))
    }
}

/// Checks of stores whose WAL says of itself what is not so: SQLite's checksums are no proof.
@Suite struct ForgedWALCheckTests {
    let path: String
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    /// Puts a number into the last frame of a WAL, makes the checksums right, and checks the pages.
    private func check(_ numbers: [Int: UInt32]) throws -> (report: StoreCheckReport, looks: Int) {
        let queue = try CheckedStore.make(path, isWAL: true)
        let key = try #require(queue.inDatabase { $0.encryptionKey })
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        var wal = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
        try queue.close()
        let pageSize = key.settings.pageSize
        let last = wal.count - pageSize - 24
        for (offset, number) in numbers {
            for byte in 0..<4 {
                wal[last + offset + byte] = UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * byte))
            }
        }
        WALForger.repair(&wal, pageSize: pageSize)
        try file.write(to: URL(fileURLWithPath: path))
        try Data(wal).write(to: URL(fileURLWithPath: path + "-wal"))
        let handle = try SQLiteHandle.open(path: path, readonly: true, creates: false, isURI: false)
        defer { SQLiteHandle.close(handle) }
        let pages = try StorePages(handle: handle, path: path, key: key) { _ in }
        var report = StoreCheckReport(limit: 10)
        var looks = 0
        _ = try pages.check(&report) { looks = max(looks, $0.totalPageCount) }
        return (report, looks)
    }

    @Test(arguments: [0xFFFF_FFFF, 0x7FFF_FFFF, 5000] as [UInt32])
    func aWALThatSaysTooManyPagesIsOneProblem(count: UInt32) throws {
        let (report, looks) = try check([4: count])
        #expect(report.problems.map(\.kind) == [.size])
        #expect(report.badPageCount == 0)
        #expect(looks < 1000)
    }

    @Test func aForgedPageNumberIsNotLookedForEither() throws {
        let (report, looks) = try check([0: 0xFFFF_FFFE, 4: 0xFFFF_FFFF])
        #expect(report.problems.contains { $0.kind == .size })
        #expect(report.problems.contains { $0.kind == .wal })
        #expect(looks < 1000)
    }
}
