import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Bundles of a writer that holds to the format, and to nothing else. What others wrote arrives nevertheless.
@Suite struct HostileBundleTests {
    private let stores: TestStores
    private let folder: FolderTransport
    private let first: TestReplica
    private let second: TestReplica
    private let writer = AdmissionTests.replica(1)

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        first = try stores.create()
        second = try stores.clone(first, as: "second.db")
        for replica in [first, second] { try sync(replica) }
    }

    @discardableResult
    private func sync(_ replica: TestReplica) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(.both, folder)
    }

    private func bundle(from base: [ReplicaID: Int64] = [:], to target: [ReplicaID: Int64]) throws -> Forgery
    {
        var forgery = try Forgery(first, writer, [])
        forgery.tables = [.init(name: "note", key: "id", columns: ["title"])]
        forgery.facts.parts = []
        (forgery.base, forgery.target) = (base, target)
        return forgery
    }

    /// Puts bundles of the writer into the folder, with a head that lists them.
    private func list(_ forgeries: [Forgery]) throws {
        let paths = FolderPaths(writer)
        let store = try first.synchronizer.identity().store
        let now = stores.clock.environment.milliseconds()
        let directory = folder.path + "/" + paths.folder
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var files: [FolderHead.File] = []
        for (index, forgery) in forgeries.enumerated() {
            let name = FolderPaths.bundleName(now + Int64(index), 1)
            let file = try SealedFileWriter(
                path: directory + "/" + name, kind: BundleFile.kind, lock: folder.transport.lock(store),
                now: Date(timeIntervalSince1970: Double(now) / 1000))
            for frame in try forgery.frames() { try frame.withUnsafeBytes { try file.write($0) } }
            try file.finish()
            files.append(
                FolderHead.File(
                    name: name, base: FolderHead.encode(VersionVector(forgery.base)),
                    target: FolderHead.encode(VersionVector(forgery.target)),
                    byteCount: try #require(FolderPaths.byteCount(directory + "/" + name))))
        }
        var head = FolderHead(
            Greeting(
                store: store, replica: writer, vector: VersionVector(forgeries.last?.target ?? [:]),
                ownSequence: 7))
        head.bundles = files
        try head.write(paths.file(FolderPaths.headName), folder.transport, store: store, now: now)
    }

    /// What is written on both sides arrives, now and later.
    private func expectExchange(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for number in [1, 2] as [UInt8] {
            try first.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(number)])
            try second.execute("INSERT INTO note (id, title) VALUES (?, 'second')", [key(number + 10)])
            for replica in [first, second, first] { try sync(replica) }
            #expect(try first.dump() == second.dump(), sourceLocation: sourceLocation)
            let count = try first.value("SELECT count(*) FROM note", as: Int.self)
            #expect(count == 2 * Int(number), sourceLocation: sourceLocation)
        }
    }

    @Test func aBundleThatSaysMoreOfOneTableThanOfAllIsLeftOut() throws {
        var forgery = try bundle(to: [writer: 7])
        forgery.facts.parts = [.init(tables: [["note"]], target: VersionVector([writer: 1000]))]
        try list([forgery])
        let report = try sync(second)
        #expect(report.remarks.contains { $0.contains("some tables only") }, "\(report.remarks)")
        #expect(try second.value("SELECT count(*) FROM _sync_coverage", as: Int.self) == 0)
        try expectExchange()
    }

    /// As programs took it in that did not leave it out.
    @Test func aStoreThatTookOneInUsesTheFolderAgain() throws {
        var forgery = try bundle(to: [writer: 7])
        forgery.facts.parts = [.init(tables: [["note"]], target: VersionVector([writer: 1000]))]
        try second.apply(forgery.frames())
        #expect(try second.value("SELECT count(*) FROM _sync_coverage", as: Int.self) == 1)
        try expectExchange()
        #expect(try first.value("SELECT count(*) FROM _sync_coverage", as: Int.self) == 0)
    }

    /// Nobody else would know of the row, nor get it.
    @Test func aStoreThatTookARowInWithItOnlyReads() throws {
        var forgery = try bundle(to: [writer: 7])
        forgery.facts.parts = [.init(tables: [["note"]], target: VersionVector([writer: 1000]))]
        forgery.rows = [
            .init(
                number: 50, base: WireStamp(timestamp: 1 << 40, replica: 0, sequence: 8),
                values: [0: .text("invented")])
        ]
        try second.apply(forgery.frames())
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        try sync(first)
        // What came is told, and what did not go. Later there is nothing else to tell.
        let report = try sync(second)
        #expect(report.pulled != nil)
        #expect(report.unsent?.reason == .someTables)
        let error = #expect(throws: SyncError.self) { try sync(second) }
        #expect(error?.code == .scopeUnsupported)
        #expect(try second.value("SELECT count(*) FROM note WHERE title = 'first'", as: Int.self) == 1)
    }

    /// The floor says that whoever knew the row and has it no more knows its deletion, which is not so here.
    @Test func aRowBelowAFloorComesThoughMoreIsClaimedOfItsTable() throws {
        var claim = try bundle(to: [writer: 7])
        claim.facts.parts = [.init(tables: [["note"]], target: VersionVector([writer: 1000]))]
        try second.apply(claim.frames())
        var everything = try bundle(to: [writer: 20])
        everything.facts.floor = VersionVector([writer: 20])
        everything.rows = [
            .init(
                number: 50, base: WireStamp(timestamp: 1 << 40, replica: 0, sequence: 15),
                values: [0: .text("written")])
        ]
        try list([everything])
        for replica in [second, first] {
            try sync(replica)
            #expect(try replica.value("SELECT count(*) FROM note WHERE title = 'written'", as: Int.self) == 1)
        }
    }

    @Test func aBundleForWhoHoldsSomeRowsIsLeftOut() throws {
        var forgery = try bundle(to: [writer: 7])
        forgery.facts.partials = [.init(names: ["note"])]
        try list([forgery])
        let report = try sync(second)
        #expect(report.remarks.contains { $0.contains("some rows of one") }, "\(report.remarks)")
        try expectExchange()
    }

    @Test func aBundleThatBuildsOnForgottenDeletionsStopsNobody() throws {
        let invented = AdmissionTests.replica(2)
        var increment = try bundle(from: [writer: 1], to: [writer: 2, invented: 100])
        increment.replicas.append(invented)
        increment.facts.floor = VersionVector([invented: 100])
        try list([bundle(to: [writer: 1]), increment])
        let report = try sync(second)
        #expect(report.remarks.contains { $0.contains("deletions") }, "\(report.remarks)")
        try expectExchange()
    }
}
