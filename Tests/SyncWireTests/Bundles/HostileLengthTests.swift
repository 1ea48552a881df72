import Foundation
import TestSupport
import Testing

@testable import SyncWire

/// Few bytes that announce much: they must fail before anything is allocated for it.
@Suite(.anyEngine) struct HostileLengthTests {
    /// The numbers that are announced: some would be within an address space.
    private let lengths: [UInt64] = [1 << 31, 1 << 32, 1 << 34, 1 << 40, 1 << 60, 1 << 63, .max]

    /// The most address space that this process had so far, where that can be known.
    private func peakByteCount() -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmPeak:") }),
            let kilobytes = line.split(separator: " ").dropLast().last
        else { return nil }
        return Int(kilobytes).map { $0 * 1024 }
    }

    /// Reads frames, which must be refused without a gigabyte of memory.
    private func expectRefusal(_ frames: [[UInt8]], _ codes: Set<WireError.Code>) {
        let before = peakByteCount()
        var code: WireError.Code?
        do {
            _ = try BundleContent.reading(frames)
        } catch {
            code = (error as? Refusal)?.error?.code
        }
        #expect(code.map { codes.contains($0) } == true, "\(String(describing: code))")
        if let before, let after = peakByteCount() { #expect(after - before < 1 << 30) }
    }

    @Test func aFrameThatAnnouncesFourGigabytesIsRefused() throws {
        for type in 1...3 as ClosedRange<UInt8> {
            let stream: [UInt8] = [type, 0xFF, 0xFF, 0xFF, 0xFF] + Array(repeating: 0, count: 15)
            expectRefusal([stream], [.truncated])
            #expect(throws: WireError.self) {
                try stream.withUnsafeBytes { try Frame.forEach(in: $0) { _ in } }
            }
        }
    }

    @Test func aHeaderThatAnnouncesTooMuchIsRefused() {
        let start = Array("CSBN\u{1}".utf8) + Array(repeating: 1, count: 32)
        let empty: [UInt8] = [0, 0, 0]
        let table: [UInt8] = empty + [1]
        for length in lengths {
            let number = FrameForge.unsigned(length)
            // The entries of both vectors, the replicas, the tables, a table's name, key and columns.
            for before in [[], [0], [0, 0], empty, table, table + [0], table + [0, 0]] as [[UInt8]] {
                expectRefusal([FrameForge.frame(1, start + before + number)], [.tooLarge])
            }
        }
    }

    @Test func aRowThatAnnouncesTooMuchIsRefused() {
        let key: [UInt8] = Array(repeating: 1, count: 16)
        let base: [UInt8] = [0x03, 0] + key + [1, 0, 2, 2]
        for length in lengths {
            let number = FrameForge.unsigned(length)
            let bodies = [
                base + [3] + number + [0x78], base + [4] + number + [0x78],
                [0x04, 0] + key + [1] + number, [0x04, 0] + key + [1, 1] + number,
                [0x03] + number + key, [0x03, 0] + key + [1] + number,
            ]
            for body in bodies {
                var forge = FrameForge()
                forge.header(Sample.header())
                forge.chunk(body)
                expectRefusal(forge.frames, [.tooLarge, .malformed])
            }
        }
    }

    @Test func anEndThatAnnouncesTooMuchIsRefused() throws {
        let frames = try Sample.content().frames()
        for length in lengths {
            let number = FrameForge.unsigned(length)
            for counts in [number + [1], [1] + number, number + number] {
                let end = FrameForge.frame(3, counts + frames[2].suffix(32))
                expectRefusal([frames[0], frames[1], end], [.corrupted])
            }
        }
    }

    /// A header of 16 MiB could hold 16 million empty names, which take 256 MiB of memory.
    @Test func tablesWithTooManyColumnsTogetherAreRefused() {
        let limits = WireLimits()
        let start = Array("CSBN\u{1}".utf8) + Array(repeating: 1, count: 32)
        let columns = FrameForge.unsigned(UInt64(limits.columnCountMax))
        let table = [0, 0] + columns + [UInt8](repeating: 0, count: limits.columnCountMax)
        let count = limits.columnTotalMax / limits.columnCountMax + 1
        let tables = (0..<count).flatMap { _ in table }
        let payload = start + [0, 0, 0] + FrameForge.unsigned(UInt64(count)) + tables
        #expect(payload.count < limits.headerByteCountMax)
        expectRefusal([FrameForge.frame(1, payload)], [.tooLarge])
    }

    @Test func countsWithinTheirLimitsReserveNothing() {
        let limits = WireLimits()
        let start = Array("CSBN\u{1}".utf8) + Array(repeating: 1, count: 32)
        let counts: [([UInt8], Int)] = [
            ([], limits.replicaCountMax),
            ([0, 0], limits.replicaCountMax),
            ([0, 0, 0], limits.tableCountMax),
            ([0, 0, 0, 1], limits.nameByteCountMax),
            ([0, 0, 0, 1, 0, 0], limits.columnCountMax),
        ]
        for (before, count) in counts {
            let number = FrameForge.unsigned(UInt64(count))
            expectRefusal([FrameForge.frame(1, start + before + number)], [.truncated])
        }
    }
}
