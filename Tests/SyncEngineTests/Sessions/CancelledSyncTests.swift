import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Synchronizations whose task is cancelled in their midst.
@Suite(.timeLimit(.minutes(10))) struct CancelledSyncTests {
    /// Two replicas with rows of their own, more than a frame holds.
    private func pair(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        for number in 1...8 {
            try insert(number, a, byteCount: 100_000)
            try insert(100 + number, b, byteCount: 100_000)
        }
        return (a, b)
    }

    private func insert(_ number: Int, _ replica: TestReplica, byteCount: Int = 10) throws {
        try replica.execute(
            "INSERT INTO note (id, title, body) VALUES (?, ?, ?)",
            [itemKey(number), "t\(number)", String(repeating: "\(number % 10)", count: byteCount)])
    }

    private func expectWhole(_ replicas: TestReplica...) throws {
        for replica in replicas {
            let problems = try replica.queue.read { try MetadataCheck.problems(of: $0, isDeep: true) }
            #expect(problems.map(\.message) == [])
        }
    }

    private func expectEqual(_ a: TestReplica, _ b: TestReplica, count: Int) throws {
        #expect(try a.state(["note", "tag"]) == b.state(["note", "tag"]))
        #expect(try a.value("SELECT count(*) FROM note", as: Int.self) == count)
        try expectWhole(a, b)
    }

    /// Changes the versions of all rows behind the back of the digests.
    private func makeDiverge(_ replica: TestReplica) throws {
        try replica.queue.write { db in
            try db.execute(sql: "UPDATE _sync_row SET hlc = hlc + 1")
            try DigestLedger.invalidate(db)
        }
    }

    private static func run(
        _ synchronizer: Synchronizer, _ direction: SyncDirection, _ transport: any Transport
    ) async throws -> SyncReport {
        switch direction {
        case .pull: try await synchronizer.pull(from: transport)
        case .push: try await synchronizer.push(to: transport)
        case .both: try await synchronizer.sync(with: transport)
        }
    }

    // MARK: Stores

    @Test(arguments: [SyncDirection.pull, .push, .both])
    func aCancellationAtAnyFrameLeavesBothStoresWhole(direction: SyncDirection) async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let synchronizer = a.synchronizer
        var frame = 0
        while true {
            frame += 1
            let before = (a: try a.dump(), b: try b.dump())
            let watch = SyncWatch { [frame] in $1 == frame && $0 != .remembering }
            let transport = WatchedTransport(inner: b.transport, watch: watch)
            do {
                _ = try await watch.run { try await Self.run(synchronizer, direction, transport) }
                #expect(!watch.isDue)
            } catch is CancellationError {
                #expect(watch.isDue)
            }
            #expect(watch.connectionCount == 1 && watch.openCount == 0)
            try expectWhole(a, b)
            guard watch.isDue else { break }
            // Of both directions, the pull may have been finished.
            #expect(try a.dump() == before.a || direction == .both && a.dump().count == 16)
            #expect(try b.dump() == before.b)
        }
        #expect(frame > 4)
        #expect(try a.dump().count == (direction == .push ? 8 : 16))
        #expect(try b.dump().count == (direction == .pull ? 8 : 16))
        try a.sync(b)
        try expectEqual(a, b, count: 16)
    }

    @Test func aPortionThatWasAppliedStaysAndTheNextPushGoesOnAfterIt() async throws {
        let stores = try TestStores()
        stores.clock.chainStride.withLock { $0 = 1 }
        let hub = try stores.create("hub.db")
        let phone = try stores.clone(hub, as: "phone.db")
        for number in 1...25 { try insert(number, phone) }
        let synchronizer = phone.synchronizer
        let watch = SyncWatch { point, _ in point == .frame(1, ofBundle: 2) }
        let transport = WatchedTransport(inner: hub.transport, watch: watch, changeCountMax: 10)
        await #expect(throws: CancellationError.self) {
            try await watch.run { try await synchronizer.push(to: transport) }
        }
        let arrived = try hub.dump().count
        #expect(arrived > 0 && arrived < 25)
        try expectWhole(hub, phone)
        let next = SyncWatch { _, _ in false }
        let report = try await synchronizer.push(
            to: WatchedTransport(inner: hub.transport, watch: next, changeCountMax: 10))
        #expect(report.pushed?.rowCount == Int64(25 - arrived))
        try expectEqual(hub, phone, count: 25)
    }

    @Test func aRepairThatIsCancelledIsMadeByTheNextSynchronization() async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        try a.sync(b)
        try makeDiverge(b)
        let synchronizer = a.synchronizer
        let watch = SyncWatch { point, _ in point == .frame(1, ofBundle: 1) }
        let transport = WatchedTransport(inner: b.transport, watch: watch)
        await #expect(throws: CancellationError.self) {
            try await watch.run { try await synchronizer.sync(with: transport) }
        }
        #expect(try a.sync(b).divergence?.isRepaired == true)
        #expect(try a.state(["note"]) == b.state(["note"]))
        #expect(try a.dump().count == 16)
    }

    @Test func whoCancelsWhenEverythingWasExchangedGetsTheReport() async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let synchronizer = a.synchronizer
        let watch = SyncWatch { point, _ in point == .remembering }
        let transport = WatchedTransport(inner: b.transport, watch: watch)
        let report = try await watch.run { try await synchronizer.sync(with: transport) }
        #expect(watch.isDue && report.pulled?.rowCount == 8 && report.pushed?.rowCount == 8)
        try expectEqual(a, b, count: 16)
    }

    @Test func aTaskThatWasCancelledBeforeBeginsNothing() async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let synchronizer = a.synchronizer
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let watch = SyncWatch { _, _ in false }
        let transport = WatchedTransport(inner: b.transport, watch: watch)
        let before = (a: try a.everything(), b: try b.everything())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await synchronizer.sync(with: transport) }
            await #expect(throws: CancellationError.self) { try await synchronizer.pull(from: transport) }
            await #expect(throws: CancellationError.self) { try await synchronizer.push(to: transport) }
            await #expect(throws: CancellationError.self) { try await synchronizer.sync(through: folder) }
            await #expect(throws: CancellationError.self) { try await synchronizer.pull(through: folder) }
            await #expect(throws: CancellationError.self) { try await synchronizer.push(through: folder) }
        }
        await task.value
        #expect(watch.connectionCount == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try a.everything() == before.a && b.everything() == before.b)
    }

    @Test func aCancellationIsNoFailureOfTheRemote() async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let synchronizer = a.synchronizer
        let watch = SyncWatch { _, count in count == 1 }
        let transport = WatchedTransport(inner: b.transport, watch: watch)
        await #expect(throws: CancellationError.self) {
            try await watch.run { try await synchronizer.sync(with: transport) }
        }
        #expect(try synchronizer.status().remotes.isEmpty)
        #expect(SyncCancellation.isReason(of: SyncError(.cancelled, "it was stopped")))
        #expect(!SyncCancellation.isReason(of: SyncError(.otherStore, "another one")))
    }

    // MARK: Folders

    @Test func aFolderSessionThatIsCancelledAnywhereLeavesTheStoreAndTheFolderWhole() throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        _ = try a.synchronizer.run(.push, folder)
        var step = 0
        while true {
            step += 1
            var count = 0
            let cancellation = SyncCancellation()
            do {
                _ = try Synchronizer(b.synchronizer, cancellation).run(.both, folder) { _ in
                    count += 1
                    if count == step { cancellation.cancel() }
                }
                #expect(!cancellation.isCancelled)
            } catch is CancellationError {
                #expect(cancellation.isCancelled)
            }
            try expectWhole(b)
            #expect([8, 16].contains(try b.dump().count))
            let files = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
            #expect(!files.contains { $0.contains(".sealed-") })
            guard cancellation.isCancelled else { break }
            // What was cut off is in nobody's way.
            #expect(try a.synchronizer.run(.pull, folder).remarks.isEmpty)
        }
        #expect(step > 2)
        _ = try a.synchronizer.run(.both, folder)
        #expect(try a.dump() == b.dump())
        #expect(try a.dump().count == 16)
        try expectWhole(a, b)
    }

    @Test func aTaskSynchronizesThroughAFolder() async throws {
        let stores = try TestStores()
        let (a, b) = try pair(stores)
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let (first, second) = (a.synchronizer, b.synchronizer)
        #expect(try await first.push(through: folder).pushed?.rowCount == 8)
        #expect(try await second.sync(through: folder).pulled?.rowCount == 8)
        #expect(try await first.pull(through: folder).pulled?.rowCount == 8)
        #expect(try a.dump() == b.dump())
    }

    // MARK: What tells of it

    @Test func aCancellationIsToldOnceAndToThoseWhoComeLate() throws {
        let cancellation = SyncCancellation()
        let calls = Mutex(0)
        try cancellation.check()
        cancellation.onCancel { calls.withLock { $0 += 1 } }
        #expect(calls.withLock { $0 } == 0)
        cancellation.cancel()
        cancellation.cancel()
        #expect(calls.withLock { $0 } == 1 && cancellation.isCancelled)
        cancellation.onCancel { calls.withLock { $0 += 1 } }
        #expect(calls.withLock { $0 } == 2)
        #expect(throws: CancellationError.self) { try cancellation.check() }
    }

    @Test func aPauseEndsWhenItIsCancelled() throws {
        let cancellation = SyncCancellation()
        Thread.detachNewThread { cancellation.cancel() }
        #expect(throws: CancellationError.self) { try cancellation.sleep(seconds: 100_000) }
    }
}
