import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Every merge of a row that occurs in a small scope of histories, with what the proven model makes of it.
///
/// `Schemas/wire/vectors/merge.jsonl` has those of all histories with two writes. `Scripts/nightly merges` has the model
/// make those with four, and names their file in `CIPHERSTORE_MERGE_CASES`.
@Suite(.anyEngine) struct MergeCaseTests {
    /// A case, with stamps as time, replica and sequence.
    private struct Case: Decodable {
        struct Row: Decodable {
            let life: Int64
            let base: [Int64]?
            /// Stamp and value, by column.
            let columns: [String: [Int64?]]
        }

        let local: Row?
        let incoming: Row
        let peer: [Int64]
        let known: [Int64]
        let result: Row
        /// What goes to the journal: column, life, stamp, value.
        let lost: [[Int64?]]
    }

    private struct Malformed: Error {}

    private static let replicas = (1...3).map { Identifier128(high: UInt64($0), low: 0) }

    private static func stamp(_ parts: some Collection<Int64?>) throws -> Stamp {
        let parts = parts.compactMap { $0 }
        guard parts.count == 3, replicas.indices.contains(Int(parts[1]) - 1) else { throw Malformed() }
        return Stamp(
            timestamp: HybridTimestamp(rawValue: parts[0]), replica: replicas[Int(parts[1]) - 1],
            sequence: parts[2])
    }

    private static func value(_ integer: Int64?) -> WireValue { integer.map(WireValue.integer) ?? .null }

    private static func writes(_ row: Case.Row) throws -> [Int: RowChange.Write] {
        var writes: [Int: RowChange.Write] = [:]
        for (column, parts) in row.columns {
            guard let column = Int(column), parts.count == 4 else { throw Malformed() }
            writes[column] = RowChange.Write(stamp: try stamp(parts[..<3]), value: value(parts[3]))
        }
        return writes
    }

    private static func version(_ row: Case.Row) throws -> RowVersion {
        guard let parts = row.base else { throw Malformed() }
        let (base, writes) = (try stamp(parts), try writes(row))
        return RowVersion(
            life: row.life, base: base, cells: writes.mapValues(\.stamp).filter { $0.value != base },
            values: writes.mapValues(\.value))
    }

    private static func vector(_ sequences: [Int64]) -> VersionVector {
        VersionVector(Dictionary(uniqueKeysWithValues: zip(replicas, sequences)))
    }

    /// What a case gives that the model does not say; nil when they agree.
    private static func difference(_ line: Data) throws -> String? {
        let given = try JSONDecoder().decode(Case.self, from: line)
        let local = try given.local.map(version)
        let incoming = RowChange(
            life: given.incoming.life, base: try given.incoming.base.map { try stamp($0) },
            writes: try writes(given.incoming))
        guard
            let plan = Merge.plan(
                local: local, incoming: incoming, peer: vector(given.peer), known: vector(given.known))
        else { return "refused" }
        let (result, expected) = (plan.result(of: local), try version(given.result))
        guard result.life == expected.life, result.base == expected.base, result.cells == expected.cells,
            result.values.keys == expected.values.keys,
            result.values.allSatisfy({ column, value in
                expected.values[column].map { value.compare($0) == 0 } == true
            })
        else { return "\(result)" }
        let lost = plan.conflicts.filter { $0.reason != .row }
        let isJournaled =
            try lost.count == given.lost.count
            && zip(lost, given.lost.sorted { $0[0] ?? 0 < $1[0] ?? 0 }).allSatisfy { conflict, parts in
                try conflict.column == parts[0].map(Int.init) && plan.lostLife == parts[1]
                    && conflict.lostStamp == stamp(parts[2..<5])
                    && conflict.lost.compare(value(parts[5])) == 0
            }
        return isJournaled ? nil : "\(lost) in life \(plan.lostLife)"
    }

    /// Calls a function with each line of a file, which may have gigabytes.
    private static func forEachLine(of file: String, _ body: (Data) throws -> Void) throws {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        var rest = Data()
        while let chunk = try handle.read(upToCount: 1 << 20), !chunk.isEmpty {
            var lines = (rest + chunk).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Data(lines.removeLast())
            for line in lines { try body(line) }
        }
        if !rest.isEmpty { try body(rest) }
    }

    @Test func theMergeIsThatOfTheProvenModelInEveryCaseOfASmallScope() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file =
            ProcessInfo.processInfo.environment["CIPHERSTORE_MERGE_CASES"]
            ?? root.appendingPathComponent("Schemas/wire/vectors/merge.jsonl").path
        var (count, differences) = (0, 0)
        try Self.forEachLine(of: file) { line in
            count += 1
            guard let difference = try Self.difference(line) else { return }
            differences += 1
            guard differences <= 5 else { return }
            Issue.record("\(difference), and the model says: \(String(decoding: line, as: UTF8.self))")
        }
        #expect(count > 5000 && differences == 0)
        print("\(count) merges are those of the model")
    }
}
