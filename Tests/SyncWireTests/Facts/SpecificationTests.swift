import Foundation
import TestSupport
import Testing

@testable import SyncWire

/// What `v1.md` says in figures is what the code does.
@Suite(.anyEngine) struct SpecificationTests {
    private func text() throws -> String {
        try String(contentsOf: SchemaFolder.url.appendingPathComponent("v1.md"), encoding: .utf8)
    }

    /// The bytes in the code blocks of the worked example, one array for each block.
    private func example() throws -> [[UInt8]] {
        let sections = try text().components(separatedBy: "\n## ")
        guard let section = sections.first(where: { $0.contains("A worked example") }) else { return [] }
        let blocks = section.components(separatedBy: "```")
        return try stride(from: 1, to: blocks.count, by: 2).map { index in
            var bytes: [UInt8] = []
            for line in blocks[index].split(separator: "\n") {
                let (offset, rest) = (Int(line.prefix(4).filter { $0 != " " }), line.dropFirst(6).prefix(48))
                #expect(offset == bytes.count, "\(line)")
                bytes += try Hexadecimal.bytes(String(rest))
            }
            return bytes
        }
    }

    @Test func theWorkedExampleIsTheVectorOfThatName() throws {
        let vector = try BundleVector.all().first { $0.name == "worked-example" }
        #expect(try example() == vector?.frameBytes)
    }

    @Test func theLimitsAreTheDefaults() throws {
        let limits = WireLimits()
        let expected = [
            "headerByteCountMax": limits.headerByteCountMax, "chunkByteCountMax": limits.chunkByteCountMax,
            "rowByteCountMax": limits.rowByteCountMax, "tableCountMax": limits.tableCountMax,
            "columnCountMax": limits.columnCountMax, "replicaCountMax": limits.replicaCountMax,
            "nameByteCountMax": limits.nameByteCountMax, "sectionCountMax": limits.sectionCountMax,
            "chainPointCountMax": limits.chainPointCountMax,
            "columnTotalMax": limits.columnTotalMax,
        ]
        var found: [String: Int] = [:]
        for line in try text().split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
            if cells.count == 3, let number = Int(cells[1]) { found[cells[0]] = number }
        }
        #expect(found.filter { expected[$0.key] != nil } == expected)
    }

    @Test func theErrorsAreThoseOfTheTable() throws {
        let codes: [WireError.Code] = [.truncated, .malformed, .tooLarge, .corrupted, .unsupported]
        let text = try text()
        for code in codes { #expect(text.contains("\n| `\(code.rawValue)` | ")) }
    }

    @Test func theChunkSizeIsTheOneThatIsWritten() throws {
        #expect(BundleWriter.chunkByteCount == 262_144)
        #expect(try text().contains("brings it to 262,144 bytes or more"))
        #expect(Frame.prefixByteCount + ChunkLayout.prefixByteCount == 43)
    }
}
