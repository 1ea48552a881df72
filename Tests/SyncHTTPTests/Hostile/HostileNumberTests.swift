import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Numbers in the answers of a server, or of the other end of a pipe, end nobody's process.
@Suite struct HostileNumberTests {
    private static let numbers: [Int64] = [.min, -1, Message.countMax + 1, .max]

    private func code(_ body: () throws -> Void) -> RemoteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RemoteError)?.code
        }
    }

    @Test(arguments: [
        "rowCount", "conflictCount", "sharedConflictCount", "parkedCount", "unparkedCount",
        "skewMilliseconds",
    ])
    func anApplicationThatCountsNothingIsRefused(name: String) throws {
        let names = ["rowCount", "conflictCount", "parkedCount", "unparkedCount", "skewMilliseconds"]
        func summary(_ number: Int64) throws -> ApplySummary {
            var fields = names.filter { $0 != name }.map { "\"\($0)\":0" }
            fields.append("\"\(name)\":\(number)")
            let document = "{" + fields.joined(separator: ",") + "}"
            return try JSONDocument.decode(Message.Application.self, from: Array(document.utf8)).summary()
        }
        for number in Self.numbers { #expect(code { _ = try summary(number) } == .malformed) }
        for number in [0, Message.countMax] { #expect(code { _ = try summary(number) } == nil) }
    }

    @Test func aDownloadThatCountsNothingIsRefused() throws {
        for number in Self.numbers {
            for (bytes, rows) in [(number, 0), (0, number)] as [(Int64, Int64)] {
                let download = Message.Download(
                    download: "00", byteCount: bytes, rowCount: rows, content: nil, isOpen: true)
                #expect(code { try download.checkCounts() } == .malformed)
                #expect(code { try RemoteDownload.check(download, .hasty) } == .malformed)
            }
        }
    }

    @Test func sumsStopAtTheirBound() {
        var summary = ApplySummary()
        summary.rowCount = .max
        summary.conflictCount = .max
        summary.parkedCount = .max
        let transfer = SyncReport.Transfer(rowCount: .max, byteCount: 0, applied: summary)
        let report = SyncReport(
            local: ReplicaID(high: 0, low: 1), remote: ReplicaID(high: 0, low: 2), pulled: transfer,
            pushed: transfer)
        #expect(report.conflictCount == .max && report.parkedCount == .max)
        let former = summary
        summary.add(former)
        #expect(summary.rowCount == .max && summary.conflictCount == .max && summary.parkedCount == .max)
    }
}
