import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Testing

@testable import SyncTesting

/// What a hostile device says, before anybody hears it.
@Suite struct HostileWordsTests {
    private func withView<T>(_ body: (HostileView) throws -> T) throws -> T {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(Passphrase("of a test")) }
        let queue = try DatabaseQueue(
            path: folder.appendingPathComponent("a.db").path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, size INTEGER)")
        }
        let synchronizer = try Synchronizer(queue, tables: ["note"])
        try queue.write { db in
            for number in 0..<4 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, 'x', ?)",
                    arguments: [Data(repeating: UInt8(number), count: 16), number])
            }
        }
        _ = try synchronizer.localPeer.greet()
        defer { try? queue.close() }
        return try body(HostileView(synchronizer))
    }

    /// A bundle that can be written is read again to its end, or refused with an error that says why.
    @Test func whatCanBeWrittenIsReadOrRefused() throws {
        try withView { view in
            var counts = (read: 0, refused: 0, unwritten: 0)
            var largest = (replicas: 0, tables: 0, columns: 0, parts: 0, known: 0)
            for seed in 0..<5_000 as Range<UInt64> {
                var next: Int64 = 1
                var words = HostileWords(SimulationRandom(seed: seed))
                let bundle = words.bundle(view, of: ReplicaID(high: 1, low: seed), next: &next)
                largest.replicas = max(largest.replicas, bundle.replicas.count)
                largest.tables = max(largest.tables, bundle.tables.count)
                largest.columns = max(largest.columns, bundle.tables.map(\.columns.count).max() ?? 0)
                largest.parts = max(largest.parts, bundle.facts.parts.first?.target.sequences.count ?? 0)
                largest.known = max(largest.known, bundle.facts.known.count)
                guard let frames = try? bundle.frames() else {
                    counts.unwritten += 1
                    continue
                }
                do {
                    var reader = BundleReader()
                    for frame in frames {
                        try frame.withUnsafeBytes {
                            try reader.consume($0, onHeader: { _ in }, onRow: { _ in })
                        }
                    }
                    let isComplete = reader.isComplete
                    #expect(isComplete)
                    counts.read += 1
                } catch is WireError {
                    counts.refused += 1
                }
            }
            #expect(counts.read > 2_000 && counts.refused > 0)
            // It says very much of everything at times.
            #expect(
                largest.replicas > 1_000 && largest.tables > 1_000 && largest.columns > 1_000, "\(largest)")
            #expect(largest.parts > 1_000 && largest.known >= 2_000, "\(largest)")
        }
    }
}
