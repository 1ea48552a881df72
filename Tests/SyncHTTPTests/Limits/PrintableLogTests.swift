import Logging
import SyncEngine
import Testing

@testable import SyncHTTP

/// What others wrote can't act as lines of a log, or on the terminal that shows it.
@Suite struct PrintableLogTests {
    private static let hostile = "a\u{1B}[2K\r\n2026 notice: device=admin\u{202E}\u{9B}b"

    private func lines(_ body: (Logger) throws -> Void) rethrows -> [String] {
        let log = LogLines()
        try body(PrintableLogHandler.logger(Logger(label: "test") { _ in log }))
        return log.lines.withLock { $0 }
    }

    private func isPrintable(_ text: String) -> Bool {
        !text.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) }
    }

    @Test func everyPartOfALineIsEscaped() throws {
        let hostile = Self.hostile
        let lines = lines { logger in
            logger.notice("\(hostile)")
            logger.error("plain", metadata: ["error": "\(hostile)", "\(hostile)": "x"])
            logger.error(
                "nested",
                metadata: [
                    "list": ["\(hostile)"], "map": ["\(hostile)": .stringConvertible(hostile)],
                    "number": .stringConvertible(7),
                ])
        }
        #expect(lines.count == 3 && lines.allSatisfy(isPrintable))
        #expect(lines[0].contains("a\\u{1b}[2K\\u{d}\\u{a}2026") && lines[2].contains("7"))
    }

    @Test func anErrorOfAStoreThatLastsIsEscaped() throws {
        let lines = lines { logger in
            let problem = LastingProblem(logger, "the store can't be watched")
            problem.meet(RemoteError(.failed, Self.hostile))
            problem.end()
        }
        #expect(lines.count == 2 && lines.allSatisfy(isPrintable))
        #expect(lines.allSatisfy { $0.contains("device=admin") })
    }

    @Test func aServerEscapesWhatItLogsItself() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let log = LogLines()
        let server = try HubServer(
            [hub], options: .init(host: "127.0.0.1", port: 0, tls: .plaintextOnLoopback),
            logger: Logger(label: "test") { _ in log })
        let (ports, continuation) = AsyncStream.makeStream(of: HubServer.Listening.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            var iterator = ports.makeAsyncIterator()
            let listening = try #require(await iterator.next())
            let running = RunningServer(port: listening.port, trust: listening.trust, hub: hub)
            // Labels have no controls, but may have what turns text around.
            _ = try await stores.join(try running.invite("phone\u{202E}nimda"), "phone.db")
            group.cancelAll()
        }
        let lines = log.lines.withLock { $0 }
        #expect(lines.contains { $0.contains("a device was enrolled") && $0.contains("phone\\u{202e}nimda") })
        #expect(lines.allSatisfy(isPrintable))
    }
}
