import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Replicas of a folder whose clocks are set.
@Suite struct FolderClockTests {
    private static let twoYears: Int64 = 2 * 365 * 86_400_000

    let stores: TestStores
    let folder: FolderTransport

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    private func sync(_ replica: TestReplica) throws {
        stores.clock.advance(milliseconds: 10)
        _ = try replica.synchronizer.run(.both, folder)
    }

    private func head(_ replica: TestReplica) throws -> FolderHead {
        try FolderHead.read("\(folder.path)/\(replica.synchronizer.status().replica)/head", folder)
    }

    /// Lets a replica synchronize in a time that turns out to be wrong.
    private func syncInTheFuture(_ replica: TestReplica) throws {
        stores.clock.advance(milliseconds: Self.twoYears)
        try sync(replica)
        stores.clock.advance(milliseconds: -Self.twoYears)
    }

    private func expectPresent(_ head: FolderHead) {
        // A date is not as exact as a number of milliseconds.
        #expect(abs(stores.clock.environment.milliseconds() - head.writtenMilliseconds) <= 1)
    }

    @Test func whoOnlyReadsAcknowledgesAfterItsClockWasSetBack() throws {
        let writer = try stores.create()
        let reader = try stores.clone(writer, as: "b.db")
        for replica in [writer, reader] { try sync(replica) }
        try syncInTheFuture(reader)
        #expect(try head(reader).writtenMilliseconds > stores.clock.environment.milliseconds())
        try writer.execute("INSERT INTO note (id, title) VALUES (?, 'news')", [key(1)])
        for replica in [writer, reader] { try sync(replica) }
        let acknowledged = try head(reader)
        let written = FolderHead.decode(try head(writer).vector)
        #expect(!written.sequences.isEmpty && FolderHead.decode(acknowledged.vector).covers(written))
        expectPresent(acknowledged)
    }

    @Test func aHeadOfTheFutureIsWrittenAnewOnce() throws {
        let replica = try stores.create()
        try replica.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
        try sync(replica)
        try syncInTheFuture(replica)
        try sync(replica)
        let present = try head(replica)
        expectPresent(present)
        try sync(replica)
        #expect(try head(replica) == present)
    }

    /// A bundle that somebody has put into a replica's folder may have the last number that there is.
    @Test func aNameAfterTheLastOneIsStillThatOfABundle() {
        for number in [9_999_999_999_999_999, 10_000_000_000_000_000, .max] as [Int64] {
            let name = FolderPaths.bundleName(number, 7)
            #expect(FolderPaths.number(ofBundle: name) == 9_999_999_999_999_999)
        }
        #expect(FolderPaths.isSnapshot(FolderPaths.snapshotName(.max, 7)))
    }
}
