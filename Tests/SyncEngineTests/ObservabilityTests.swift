import CipherStore
import CoreMetrics
import Foundation
import Logging
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Events, metrics and the status of remotes.
@Suite struct ObservabilityTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// Keeps what is logged.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var logger: Logger {
            var logger = Logger(label: "test") { _ in Handler(lines: self) }
            logger.logLevel = .trace
            return logger
        }
        func take() -> [String] {
            all.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String,
            file: String,
            function: String, line: UInt
        ) {
            let fields = (metadata ?? [:]).filter { $0.key != "remote" && $0.key != "replica" }
                .map { "\($0.key)=\($0.value)" }.sorted()
            lines.all.withLock { $0.append((["\(level) \(message)"] + fields).joined(separator: " ")) }
        }
    }

    /// Keeps what is measured.
    private final class Measures: MetricsFactory, Sendable {
        let all = Mutex<[String: Int64]>([:])
        private final class One: CounterHandler, RecorderHandler, TimerHandler, Sendable {
            let change: @Sendable (Int64, Bool) -> Void
            init(_ change: @escaping @Sendable (Int64, Bool) -> Void) { self.change = change }
            func increment(by amount: Int64) { change(amount, true) }
            func reset() {}
            func record(_ value: Int64) { change(value, false) }
            func record(_ value: Double) { change(Int64(value), false) }
            func recordNanoseconds(_ duration: Int64) { change(duration, false) }
        }
        private func one(_ label: String, _ dimensions: [(String, String)]) -> One {
            let name = ([label] + dimensions.filter { $0.0 != "remote" }.map { "\($0.0)=\($0.1)" }).joined(
                separator: " ")
            return One { [self] value, adds in
                all.withLock { $0[name] = adds ? ($0[name] ?? 0) + value : value }
            }
        }
        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            one(label, dimensions)
        }
        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool)
            -> any RecorderHandler
        {
            one(label, dimensions)
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            one(label, dimensions)
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    private func observed(_ a: TestReplica, _ lines: Lines, _ measures: Measures? = nil) throws
        -> Synchronizer
    {
        try Synchronizer(
            existing: a.queue,
            environment: stores.clock.environment.with(logger: lines.logger, metrics: measures))
    }

    @Test func aSynchronizationIsLoggedAndMeasured() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'secret title')", [key(1)])
        let lines = Lines()
        let measures = Measures()
        let synchronizer = try observed(a, lines, measures)
        let report = try synchronizer.run(.both, b.transport)
        let bytes = report.pushed?.byteCount ?? 0
        #expect(
            lines.take() == [
                "debug sync.started direction=both", "debug log.folded entries=1",
                "debug bundle.applied bytes=\(bytes) direction=push rows=1",
                "info sync.finished bytes=\(bytes) direction=both milliseconds=0 rows=1",
            ])
        let values = measures.all.withLock { $0 }
        #expect(values["sync.rows direction=push"] == 1)
        #expect(values["sync.bytes direction=push"] == bytes)
        #expect(values["sync.duration outcome=finished"] == 0)
        #expect(values["sync.pending"] == 0)
        #expect(values["sync.parked"] == 0)
        #expect(values["sync.last_success"] == stores.clock.environment.milliseconds() / 1000)
        // Two edits of one value.
        try a.execute("UPDATE note SET title = 'of a'")
        try b.execute("UPDATE note SET title = 'of b'")
        _ = try synchronizer.run(.both, b.transport)
        let later = lines.take()
        #expect(later.contains("warning conflicts.found count=1"))
        #expect(!later.joined().contains("of "))
        #expect(measures.all.withLock { $0["sync.conflicts"] } == 1)
    }

    @Test func aSharedFolderIsARemoteLikeAnother() throws {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'secret title')", [key(1)])
        let lines = Lines()
        let synchronizer = try observed(a, lines)
        let nowhere = FolderTransport(
            path: stores.path("no/folder"), passphrase: try Passphrase("shared"), cost: .minimum)
        #expect(throws: StoreError.self) { try synchronizer.run(.both, nowhere) }
        #expect(lines.take().contains { $0.hasPrefix("error sync.failed code=store.") })
        let folder = FolderTransport(
            path: stores.path("folder"), passphrase: try Passphrase("shared"), cost: .minimum)
        let report = try synchronizer.run(.both, folder)
        let logged = lines.take()
        #expect(report.unrecordedReason == nil)
        #expect(
            logged.last?.hasPrefix("info sync.finished") == true && logged.last?.contains("rows=1") == true)
        #expect(!logged.joined().contains("secret"))
        let remotes = try a.synchronizer.status().remotes
        let done = remotes.first { $0.name == folder.name }
        #expect(done?.failureCount == 0 && done?.lastError == nil && done?.lastSuccessMilliseconds != nil)
        let failed = remotes.first { $0.name == nowhere.name }
        #expect(failed?.failureCount == 1 && failed?.lastError != nil)
    }

    @Test func aFailureIsLoggedAndKeptUntilItSucceeds() throws {
        let a = try stores.create()
        let other = try stores.create("other.db")
        let b = try stores.clone(a, as: "b.db")
        let lines = Lines()
        let measures = Measures()
        let synchronizer = try observed(a, lines, measures)
        for _ in 0..<2 { #expect(throws: SyncError.self) { try synchronizer.run(.pull, other.transport) } }
        #expect(
            lines.take().filter { $0.hasPrefix("error") }
                == Array(
                    repeating: "error sync.failed code=sync.otherStore direction=pull milliseconds=0",
                    count: 2))
        #expect(measures.all.withLock { $0["sync.failures"] } == 2)
        var remote = try #require(try synchronizer.status().remotes.first)
        #expect(remote.name == other.transport.name)
        #expect(remote.failureCount == 2)
        #expect(remote.lastSuccessMilliseconds == nil)
        #expect(remote.lastError?.isEmpty == false)
        // A remote that is not there.
        let missing = StoreTransport(
            path: stores.path("c.db"), configuration: TestStores.configuration("c.db"))
        #expect(throws: StoreError.self) { try synchronizer.run(.both, missing) }
        #expect(lines.take().contains("error sync.failed code=store.missing direction=both milliseconds=0"))
        let c = try stores.clone(a, as: "c.db")
        _ = try synchronizer.run(.both, c.transport)
        remote = try #require(try synchronizer.status().remotes.first { $0.name == missing.name })
        #expect(remote.failureCount == 0)
        #expect(remote.lastError == nil)
        #expect(remote.lastSuccessMilliseconds == stores.clock.environment.milliseconds())
        _ = b
    }

    @Test func aCancellationIsLoggedAndCountsAsNoFailure() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        let folder = FolderTransport(
            path: stores.path("folder"), passphrase: try Passphrase("shared"), cost: .minimum)
        _ = try b.synchronizer.run(.push, folder)
        let (lines, measures) = (Lines(), Measures())
        let synchronizer = try observed(a, lines, measures)
        #expect(throws: CancellationError.self) {
            try synchronizer.run(.pull, folder) { _ in throw CancellationError() }
        }
        let logged = lines.take()
        #expect(logged.contains { $0.hasPrefix("error sync.failed code=sync.cancelled") }, "\(logged)")
        let measured = measures.all.withLock { $0 }
        #expect(measured["sync.failures"] == nil)
        #expect(measured["sync.duration outcome=failed"] != nil, "\(measured)")
        #expect(try synchronizer.status().remotes.isEmpty)
    }

    @Test func clocksAndSchemasThatDifferAreNoticed() throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        let days: Int64 = 3 * 86_400_000
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(1)])
        let future = SyncEnvironment(
            milliseconds: { [clock = stores.clock] in clock.environment.milliseconds() + days }, random: { 5 }
        )
        try b.execute("UPDATE _sync_log SET ms = ms + \(days)")
        try b.queue.write { _ = try FoldedStore.fold($0, future) }
        try a.changeUnobserved("ALTER TABLE note ADD COLUMN colour")
        let lines = Lines()
        let report = try observed(a, lines).run(.pull, b.transport)
        let logged = lines.take()
        #expect(report.skewMilliseconds > days - 1000)
        #expect(logged.contains("warning clock.skewed milliseconds=\(report.skewMilliseconds)"))
        #expect(logged.contains("info schema.changed"))
        #expect(try a.synchronizer.status().remotes.first?.clockAheadMilliseconds == report.skewMilliseconds)
    }

    @Test(.timeLimit(.minutes(1))) func theStatusIsASequence() async throws {
        let a = try stores.create()
        let b = try stores.clone(a, as: "b.db")
        var updates = a.synchronizer.statusUpdates().makeAsyncIterator()
        let first = try await updates.next()
        #expect(first?.remotes == [])
        _ = try a.synchronizer.run(.both, b.transport)
        var last = try await updates.next()
        while last?.remotes.isEmpty == true { last = try await updates.next() }
        #expect(last?.remotes.map(\.name) == [b.transport.name])
    }

    @Test func theListOfEventsAndMetricsIsThatOfTheCode() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("docs/observability.md"), encoding: .utf8)
        let listed = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let events = SyncEvent.examples.map { event in
            let fields = event.metadata.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(event.name)` | \(event.level) | \(fields.isEmpty ? "" : fields + " ")|"
        }
        #expect(Array(listed.prefix(events.count)) == events)
        let metrics = listed.dropFirst(events.count).map {
            $0.components(separatedBy: " | ").prefix(2).joined(separator: " | ")
        }
        #expect(metrics == SyncMetric.allCases.map { "| `\($0.rawValue)` | \($0.kind)" })
    }
}
