import Foundation
import TestSupport
import Testing

@testable import CipherStore

@Suite struct StoreCheckTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    private func makeStore(rows: Int = 60, isWAL: Bool = false) throws -> DatabaseQueue {
        try CheckedStore.make(path, rows: rows, isWAL: isWAL)
    }

    private func check(
        _ passphrase: String = "secret", isDeep: Bool = false, limit: Int = 100
    ) throws -> StoreCheckReport {
        try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase(passphrase)), isDeep: isDeep, problemLimit: limit)
    }

    private func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: [false, true]) func aSoundStoreHasNoProblemsAndStaysAsItIs(isWAL: Bool) throws {
        try makeStore(isWAL: isWAL).close()
        let before = try bytes()
        let report = try check(isDeep: true)
        #expect(report.problems == [])
        #expect(report.isSound && report.pageCount == before.count / 4096)
        #expect(try bytes() == before)
        #expect(try folder.contents() == ["a.db"])
    }

    /// SQLite makes the files that are needed to read beside the file that a link leads to.
    @Test func aStoreIsCheckedByALinkAndLeftAsItIs() throws {
        try makeStore(isWAL: true).close()
        let links = folder.file("links")
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: false)
        let link = links + "/l.db"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../a.db")
        // What is beside the link belongs to somebody else.
        try Data([1]).write(to: URL(fileURLWithPath: link + "-wal"))
        let report = try StoreCheck.run(path: link, opening: Secret(Passphrase("secret")), isDeep: true)
        #expect(report.problems == [])
        #expect(try folder.contents() == ["a.db", "links"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: link + "-wal")) == Data([1]))
    }

    @Test func theWALOfAStoreInUseIsCheckedAndNotTouched() throws {
        let queue = try makeStore(isWAL: true)
        let wal = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let report = try check(isDeep: true)
        #expect(report.problems == [])
        #expect(report.walFrameCount > 10)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == wal)
        try queue.close()
    }

    @Test func aWrongPassphraseIsNoDamage() throws {
        try makeStore().close()
        let error = #expect(throws: StoreError.self) { try check("wrong") }
        #expect(error?.code == .wrongPassphrase)
    }

    @Test func aDamagedPageIsNamedWithItsTable() throws {
        try makeStore().close()
        let sound = try bytes()
        var found: [String: Int] = [:]
        for page in 2...(sound.count / 4096) {
            var bytes = sound
            bytes[(page - 1) * 4096 + 50] ^= 1
            try write(bytes)
            let report = try check()
            #expect(report.badPageCount == 1 && report.problemCount == 1, "page \(page)")
            #expect(report.problems.first?.page == page)
            found[report.problems.first?.table ?? "?", default: 0] += 1
        }
        // Rows, indexes and the pages of large values; pages that hold nothing.
        #expect(found["note", default: 0] >= 15)
        #expect(found["big", default: 0] > 8)
        #expect(found[PageOwners.free, default: 0] > 0)
        #expect(found["?"] == nil)
    }

    @Test func aDamagedFirstPageIsNoWrongPassphrase() throws {
        try makeStore().close()
        var bytes = try bytes()
        bytes[1000] ^= 1
        try write(bytes)
        let report = try check()
        #expect(report.problems.contains { $0.kind == .page && $0.page == 1 })
        let error = #expect(throws: StoreError.self) { try check("wrong") }
        #expect(error?.code == .wrongPassphrase)
    }

    @Test func aDamagedFirstPageIsFoundBesideTheKeyringOfAnotherFile() throws {
        try makeStore().close()
        let other = try Keyring.make(
            forNewStore: folder.file("gone.db"), secret: Secret(Passphrase("other")), cost: .minimum)
        for suffix in ["", ".bak"] {
            try FileManager.default.moveItem(atPath: other.path + suffix, toPath: path + ".keys" + suffix)
        }
        var bytes = try bytes()
        bytes[1000] ^= 1
        try write(bytes)
        let report = try check()
        #expect(report.problems.contains { $0.kind == .page && $0.page == 1 })
        let error = #expect(throws: StoreError.self) { try check("wrong") }
        #expect(error?.code == .wrongPassphrase)
    }

    @Test func aDamagedSaltIsFoundWithTheHelpOfTheKeyring() throws {
        try makeStore().close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase("secret"), cost: .minimum)
        #expect(try check(isDeep: true).problems == [])
        var bytes = try bytes()
        bytes[3] ^= 1
        try write(bytes)
        let report = try check()
        #expect(report.badPageCount == 0 && !report.isSound)
        #expect(report.problems.first?.kind == .unreadable)
    }

    @Test func damagedKeyringsAreFound() throws {
        try makeStore().close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase("secret"), cost: .minimum)
        let backup = path + ".keys.bak"
        var copy = try Data(contentsOf: URL(fileURLWithPath: backup))
        copy[40] ^= 1
        try copy.write(to: URL(fileURLWithPath: backup))
        #expect(try check().problems.map(\.kind) == [.keyring])
        try FileManager.default.removeItem(atPath: backup)
        // As after a restoration of the keyring's file alone: nothing is damaged.
        let report = try check()
        #expect(report.problems.map(\.kind) == [.keyringCopy] && !report.isSound && !report.isDamaged)
        try copy.write(to: URL(fileURLWithPath: path + ".keys"))
        let error = #expect(throws: StoreError.self) { try check() }
        #expect(error?.code == .keyringDamaged)
    }

    @Test func theNumberOfReportedProblemsIsBounded() throws {
        try makeStore().close()
        var bytes = try bytes()
        for page in 2..<20 { bytes[page * 4096 + 7] ^= 1 }
        try write(bytes)
        let report = try check(limit: 5)
        #expect(report.problemCount == 18 && report.problems.count == 5 && report.badPageCount == 18)
    }

    @Test func foreignKeysAreCheckedWhenTheCheckIsDeep() throws {
        let queue = try makeStore()
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE TABLE tag (note REFERENCES note (id));
                    PRAGMA foreign_keys = OFF; INSERT INTO tag VALUES (x'00');
                    """)
        }
        try queue.close()
        #expect(try check().isSound)
        let problems = try check(isDeep: true).problems
        #expect(problems.map(\.kind) == [.reference] && problems.first?.table == "tag")
    }

    @Test func progressReachesTheEndAndCanStopTheCheck() throws {
        try makeStore(rows: 400).close()
        var last = 0
        let report = try StoreCheck.run(
            path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false
        ) {
            last = $0.completedPageCount
        } further: { _ in
            []
        }
        #expect(last == report.pageCount)
        struct Stopped: Error {}
        #expect(throws: Stopped.self) {
            try StoreCheck.run(
                path: path, opening: KeySlotSecret(Passphrase("secret")), isDeep: false,
                progress: { _ in throw Stopped() })
        }
    }

    @Test func aStoreThatIsWrittenAndCheckpointedMeanwhileIsSound() throws {
        let queue = try makeStore(isWAL: true)
        let stop = Lock(false)
        let thread = Thread {
            // Bounded: a writer that outlives its test would fill the disk.
            for number in 1...2000 where !stop.withLock({ $0 }) {
                try? queue.writeWithoutTransaction { db in
                    try db.execute(
                        sql: "UPDATE note SET body = randomblob(300) WHERE rowid % 7 = \(number % 7)")
                    if number.isMultiple(of: 3) {
                        try db.checkpoint(number.isMultiple(of: 2) ? .passive : .truncate)
                    }
                }
            }
        }
        thread.start()
        defer { stop.withLock { $0 = true } }
        for _ in 0..<Campaign.count(3, nightly: 60) {
            let report = try check()
            #expect(report.problems == [])
        }
    }
}

/// A store with pages of many kinds.
enum CheckedStore {
    static func make(
        _ path: String, rows: Int = 60, isWAL: Bool = false, passphrase: String = "secret"
    ) throws -> DatabaseQueue {
        var configuration = Configuration.keyed(passphrase)
        if isWAL { configuration.journalMode = .wal }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body BLOB);
                    CREATE INDEX note_title ON note (title);
                    CREATE TABLE big (a BLOB);
                    CREATE TABLE gone (a BLOB);
                    """)
            for number in 0..<rows {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)",
                    arguments: [
                        Data(repeating: UInt8(number & 255), count: 12)
                            + Data([UInt8(number >> 8), 0, 0, 0]),
                        String(repeating: "title \(number) ", count: 30),
                        Data(repeating: 7, count: 500),
                    ])
            }
            try db.execute(sql: "INSERT INTO big VALUES (zeroblob(40000))")
            try db.execute(sql: "INSERT INTO gone VALUES (zeroblob(9000))")
        }
        try queue.write { try $0.execute(sql: "DROP TABLE gone") }
        return queue
    }
}
