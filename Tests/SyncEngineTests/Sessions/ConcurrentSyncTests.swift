import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// Two synchronizations of one pair at one moment, each by a process of its own in life and by a thread with
/// connections of its own here, are no copies of a file.
@Suite struct ConcurrentSyncTests {
    private static let rounds = Campaign.count(15, nightly: 1_000)

    /// Lets both sides synchronize at once, over and over, with edits on both.
    private func expectNoRenewal(
        _ stores: TestStores, _ first: TestReplica, _ second: TestReplica,
        _ sync: @escaping @Sendable (Synchronizer, Bool) throws -> Void
    ) async throws {
        let synchronizers = [first.synchronizer, second.synchronizer]
        for round in 0..<Self.rounds {
            try first.execute("UPDATE note SET stars = stars + 1, body = 'a\(round)'")
            try second.execute("UPDATE note SET title = 'b\(round)'")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, synchronizer) in synchronizers.enumerated() {
                    group.addTask {
                        // Who meets the other at the same row waits in vain at times; it comes again.
                        for _ in 0..<20 {
                            do {
                                return try sync(synchronizer, index == 0)
                            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                                continue
                            } catch let error as SyncError where error.code == .invalidBundle {
                                // The other one was faster: what was to come is here.
                                continue
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        for (index, synchronizer) in synchronizers.enumerated() { try sync(synchronizer, index == 0) }
        try sync(first.synchronizer, true)
        #expect(try first.dump() == second.dump())
        for replica in [first, second] {
            let replicas = try replica.synchronizer.replicas()
            #expect(replicas.count == 2, "\(replicas)")
        }
        try expectHealthy([first, second])
    }

    private func pair(_ stores: TestStores) throws -> (TestReplica, TestReplica) {
        let first = try stores.create()
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [Data(repeating: 1, count: 16)])
        return (first, try stores.clone(first, as: "b.db"))
    }

    @Test func twoFiles() async throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        let transports = (second.transport, first.transport)
        try await expectNoRenewal(stores, first, second) { synchronizer, isFirst in
            _ = try synchronizer.run(.both, isFirst ? transports.0 : transports.1)
        }
    }

    /// One file, synchronized by two processes at once with another.
    @Test func aFileAndTwoProcessesOfAnother() async throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        let again = try stores.open("a.db")
        let transport = second.transport
        for round in 0..<Self.rounds {
            try first.execute("UPDATE note SET stars = stars + 1, body = 'a\(round)'")
            try second.execute("UPDATE note SET title = 'b\(round)'")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for synchronizer in [first.synchronizer, again.synchronizer] {
                    group.addTask {
                        for _ in 0..<20 {
                            do {
                                _ = try synchronizer.run(.both, transport)
                                return
                            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                                continue
                            } catch let error as SyncError where error.code == .invalidBundle {
                                continue
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try first.synchronizer.replicas().count == 2)
        #expect(try second.synchronizer.replicas().count == 2)
        #expect(try first.dump() == second.dump())
    }

    @Test func aFolder() async throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        try FileManager.default.createDirectory(
            atPath: stores.path("folder"), withIntermediateDirectories: true)
        let path = stores.path("folder")
        try await expectNoRenewal(stores, first, second) { synchronizer, _ in
            let folder = FolderTransport(
                path: path, passphrase: try Passphrase("of the folder"), cost: .minimum)
            for _ in 0..<2 { _ = try synchronizer.run(.both, folder) }
        }
    }

    /// A timer that overlaps with somebody who synchronizes by hand.
    @Test func aFolderAndTwoProcessesOfAFile() async throws {
        let stores = try TestStores()
        let (first, second) = try pair(stores)
        let again = try stores.open("a.db")
        try FileManager.default.createDirectory(
            atPath: stores.path("folder"), withIntermediateDirectories: true)
        let path = stores.path("folder")
        for round in 0..<Self.rounds {
            try first.execute("UPDATE note SET stars = stars + 1, body = 'a\(round)'")
            try second.execute("UPDATE note SET title = 'b\(round)'")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for synchronizer in [first.synchronizer, again.synchronizer, second.synchronizer] {
                    group.addTask {
                        let folder = FolderTransport(
                            path: path, passphrase: try Passphrase("of the folder"), cost: .minimum)
                        _ = try? synchronizer.run(.both, folder)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try first.synchronizer.replicas().count == 2)
        #expect(try second.synchronizer.replicas().count == 2)
    }
}
