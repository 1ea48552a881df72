import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// `changePassphrase(_:)` of a queue or pool that is open.
@Suite struct OpenStorePassphraseTests {
    private struct Stopped: Error {}

    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
    }

    private func opens(_ passphrase: String) -> Bool {
        do {
            let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? 0 > 0
        } catch {
            return false
        }
    }

    /// Opens a store that a passphrase opens, with more pages than are copied in one round of progress.
    private func make(isPool: Bool, _ configuration: Configuration = .keyed("old")) throws
        -> any DatabaseWriter
    {
        let writer: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try writer.write {
            try $0.execute(
                sql: """
                    PRAGMA user_version = 7;
                    CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000)); CREATE INDEX i ON t (a)
                    """)
        }
        return writer
    }

    private func count(_ reader: some DatabaseReader) throws -> Int? {
        try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test(arguments: [false, true]) func theObjectGoesOnUnderTheNewPassphrase(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        let mode = try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(try count(writer) == 1)
        let before = FileIdentity(path: path)
        var steps: [StoreProgress.Phase] = []
        try writer.changePassphrase("new") { steps.append($0.phase) }
        #expect(FileIdentity(path: path) != before)
        #expect(steps.first == .copying && steps.last == .verifying)
        // New connections are opened with the old passphrase of the configuration.
        #expect(try count(writer) == 1)
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try count(writer) == 2)
        #expect(try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == mode)
        #expect(try writer.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 7)
        // Again, and to bytes.
        try writer.changePassphrase(Data("newer".utf8))
        #expect(try count(writer) == 2)
        try writer.close()
        #expect(opens("newer"))
        #expect(!opens("new") && !opens("old"))
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func oneDerivationIsPaidForTheNewKeyAndNoneForTheReaders() throws {
        let pool = try DatabasePool(path: path, configuration: .keyed("old"))
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let before = pool.keyDerivationCount
        try pool.changePassphrase("new")
        let started = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            pool.asyncRead { _ in
                started.signal()
                mayEnd.wait()
            }
        }
        for _ in 0..<3 { started.wait() }
        for _ in 0..<3 { mayEnd.signal() }
        #expect(pool.keyDerivationCount == before)
    }

    @Test func aConfigurationThatGivesTheNewPassphraseIsTakenToo() throws {
        let passphrase = LockedBox("old")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase.value) }
        let pool = try make(isPool: true, configuration) as? DatabasePool
        try pool?.changePassphrase("new")
        passphrase.value = "new"
        pool?.invalidateReadOnlyConnections()
        #expect(try pool.map { try count($0) } == 1)
        passphrase.value = "another"
        pool?.invalidateReadOnlyConnections()
        #expect(throws: DatabaseError.self) { try pool.map { try count($0) } }
    }

    @Test func theKeySettingsStay() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("old")
            try db.execute(sql: "PRAGMA kdf_iter = 7000; PRAGMA cipher_page_size = 8192")
        }
        let queue = try make(isPool: false, configuration)
        try queue.changePassphrase("new")
        #expect(try count(queue) == 1)
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA cipher_page_size") } == "8192")
        #expect(try queue.read { $0.cipherSettings?.kdfIterations } == 7000)
        try queue.close()
        #expect(!opens("new"), "with the usual rounds")
        configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase("new")
            try db.execute(sql: "PRAGMA kdf_iter = 7000; PRAGMA cipher_page_size = 8192")
        }
        #expect(try count(DatabaseQueue(path: path, configuration: configuration)) == 1)
    }

    @Test(arguments: [false, true]) func aFailureLeavesTheOldPassphraseAndTheSameConnection(isPool: Bool)
        throws
    {
        let writer = try make(isPool: isPool)
        let mode = try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        // Something that only this connection has.
        try writer.writeWithoutTransaction { try $0.execute(sql: "CREATE TEMP TABLE mine (a)") }
        let before = FileIdentity(path: path)
        for phase in [StoreProgress.Phase.copying, .verifying] {
            #expect(throws: Stopped.self) {
                try writer.changePassphrase("new") { if $0.phase == phase { throw Stopped() } }
            }
            #expect(FileIdentity(path: path) == before)
            try writer.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO mine VALUES (1)") }
            try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            #expect(try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == mode)
            // Its lock is gone: others can read and write.
            let other = try DatabaseQueue(path: path, configuration: .keyed("old"))
            try other.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            try other.close()
        }
        #expect(try count(writer) == 5)
        try writer.close()
        #expect(opens("old") && !opens("new"))
        #expect(try folder.contents() == ["a.db"])
    }

    @Test(arguments: [false, true]) func whatItIsRefusedFor(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        func code(_ body: () throws -> Void) -> ResultCode? {
            do {
                try body()
                return nil
            } catch {
                return (error as? DatabaseError)?.resultCode
            }
        }
        // Inside of accesses.
        try writer.write { _ in #expect(code { try writer.changePassphrase("new") } == .SQLITE_MISUSE) }
        try writer.read { _ in #expect(code { try writer.changePassphrase("new") } == .SQLITE_MISUSE) }
        // A statement lives.
        var statement: Statement?
        try writer.writeWithoutTransaction { statement = try $0.makeStatement(sql: "SELECT a FROM t") }
        try withExtendedLifetime(statement) {
            #expect(code { try writer.changePassphrase("new") } == .SQLITE_BUSY)
        }
        statement = nil
        #expect(throws: StoreError.self) { try writer.changePassphrase("") }
        #expect(try count(writer) == 1)
        try writer.close()
        #expect(code { try writer.changePassphrase("new") } == .SQLITE_MISUSE)
        #expect(opens("old"))
    }

    @Test func onlyAnEncryptedFileThatCanBeWrittenHasAPassphraseToChange() throws {
        try make(isPool: false).close()
        var configuration = Configuration.keyed("old")
        configuration.readonly = true
        let readonly = try DatabaseQueue(path: path, configuration: configuration)
        let refused = #expect(throws: DatabaseError.self) { try readonly.changePassphrase("new") }
        #expect(refused?.resultCode == .SQLITE_READONLY)
        let memory = try DatabaseQueue(configuration: .keyed("old"))
        let inMemory = #expect(throws: DatabaseError.self) { try memory.changePassphrase("new") }
        #expect(inMemory?.resultCode == .SQLITE_MISUSE)
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        let plaintext = #expect(throws: StoreError.self) { try plain.changePassphrase("new") }
        #expect(plaintext?.code == .plaintext)
        var unsafe = Configuration.keyed("old")
        unsafe.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: path, configuration: unsafe)
        try queue.inDatabase { try $0.beginTransaction() }
        let open = #expect(throws: DatabaseError.self) { try queue.changePassphrase("new") }
        #expect(open?.resultCode == .SQLITE_MISUSE)
        try queue.inDatabase { try $0.rollback() }
        try queue.changePassphrase("new")
        #expect(opens("new"))
    }

    @Test func otherConnectionsOfTheProcessEnd() throws {
        let queue = try make(isPool: false)
        let other = try DatabaseQueue(path: path, configuration: .keyed("old"))
        #expect(try count(other) == 1)
        try other.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            let error = #expect(throws: StoreError.self) { try queue.changePassphrase("new") }
            #expect(error?.code == .busy)
        }
        try queue.changePassphrase("new")
        let error = #expect(throws: StoreError.self) { try count(other) }
        #expect(error?.code == .replaced)
        let write = #expect(throws: StoreError.self) {
            try other.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        }
        #expect(write?.code == .replaced)
        #expect(try count(queue) == 1)
    }

    @Test func aWALThatAnotherConnectionOrASnapshotUsesIsNotLeft() throws {
        let pool = try #require(make(isPool: true) as? DatabasePool)
        let snapshot = try pool.makeSnapshot()
        let busy = #expect(throws: StoreError.self) { try pool.changePassphrase("new") }
        #expect(busy?.code == .busy)
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        try snapshot.close()
        let other = try DatabasePool(path: path, configuration: .keyed("old"))
        let inUse = #expect(throws: StoreError.self) { try pool.changePassphrase("new") }
        #expect(inUse?.code == .busy)
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try count(other) == 2)
        try other.close()
        try pool.changePassphrase("new")
        #expect(try count(pool) == 2)
    }

    @Test func aKeyringStoreChangesItsSlotOnly() throws {
        try make(isPool: false).close()
        try StoreRekey.makeKeyring(path: path, from: Passphrase("old"), cost: .minimum)
        let pool = try DatabasePool(path: path, configuration: .keyed("old"))
        let before = FileIdentity(path: path)
        #expect(try count(pool) == 1)
        try pool.changePassphrase("new")
        #expect(FileIdentity(path: path) == before)
        pool.invalidateReadOnlyConnections()
        #expect(try count(pool) == 1)
        try pool.changePassphrase("newer")
        try pool.close()
        #expect(opens("newer") && !opens("new") && !opens("old"))
    }

    @Test(arguments: [false, true]) func observationsStay(isPool: Bool) async throws {
        let writer = try make(isPool: isPool)
        let counts = LockedBox<[Int]>([])
        let more = DispatchSemaphore(value: 0)
        let observation = ValueObservation.tracking {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t") ?? -1
        }
        let cancellable = observation.start(in: writer, scheduling: .async(onQueue: .global())) { error in
            Issue.record("\(error)")
        } onChange: { count in
            counts.change { $0.append(count) }
            more.signal()
        }
        defer { cancellable.cancel() }
        #expect(more.wait(timeout: .now() + 600) == .success)
        try await writer.changePassphrase("new")
        try await writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        while counts.value.last != 2 {
            guard more.wait(timeout: .now() + 600) == .success else {
                Issue.record("the observation saw \(counts.value)")
                break
            }
        }
    }

    @Test func aCancelledTaskChangesNothing() async throws {
        let queue = try make(isPool: false)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.changePassphrase("new")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count(queue) == 1)
        try queue.close()
        #expect(opens("old"))
    }

    /// Readers and writers on several threads see nothing but whole states, before and after.
    @Test func accessesOfOtherThreadsWaitAndGoOn() throws {
        let pool = try #require(make(isPool: true) as? DatabasePool)
        try pool.write { try $0.execute(sql: "CREATE TABLE n (a INTEGER); INSERT INTO n VALUES (0), (0)") }
        let failures = LockedBox<[String]>([])
        let changes = 3
        let isEnded = LockedBox(false)
        DispatchQueue.concurrentPerform(iterations: 5) { index in
            do {
                if index == 0 {
                    defer { isEnded.value = true }
                    for number in 0..<changes { try pool.changePassphrase("passphrase \(number)") }
                    return
                }
                for turn in 0..<5000 where !isEnded.value || turn < 20 {
                    if index == 1 {
                        try pool.write { try $0.execute(sql: "UPDATE n SET a = a + 1") }
                    } else {
                        let values = try pool.read { try Int.fetchAll($0, sql: "SELECT a FROM n") }
                        if values.count != 2 || values[0] != values[1] {
                            failures.change { $0.append("\(values)") }
                        }
                    }
                    usleep(200)
                }
            } catch {
                failures.change { $0.append("\(index): \(error)") }
                isEnded.value = true
            }
        }
        #expect(failures.value == [])
        let last = try pool.read { try Int.fetchOne($0, sql: "SELECT max(a) FROM n") }
        try pool.close()
        let again = try DatabaseQueue(path: path, configuration: .keyed("passphrase \(changes - 1)"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT max(a) FROM n") } == last)
        #expect(try again.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    /// What a kill leaves at each step of the progress. `KillTests` kill a process at each of its writes
    /// on the same course, up to the rename and after it.
    @Test(arguments: [false, true]) func aKillAtEachStepLeavesAStoreThatOpens(isPool: Bool) throws {
        let writer = try make(isPool: isPool)
        let rowCount = Campaign.count(30, nightly: 80)
        try writer.write { db in
            for _ in 0..<rowCount { try db.execute(sql: "INSERT INTO t VALUES (randomblob(60000))") }
        }
        let kept = try TemporaryFolder()
        var stepCount = 0
        try writer.changePassphrase("new") { step in
            stepCount += 1
            let copy = kept.file("\(stepCount)")
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            for name in try folder.contents() {
                try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy + "/" + name)
            }
        }
        #expect(stepCount > 3)
        for number in 1...stepCount {
            let path = kept.file("\(number)/a.db")
            let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
            #expect(try count(queue) == rowCount + 1)
            try queue.close()
            // What the killed one left goes with the next change.
            try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("next"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: kept.file("\(number)")) == ["a.db"])
        }
    }
}
