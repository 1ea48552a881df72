#if os(Linux)
    import Foundation
    import Glibc
    import Testing

    @testable import SyncctlCommands

    /// `status --watch`.
    @Suite(.timeLimit(.minutes(10))) struct StatusWatchTests {
        let place: Workplace

        init() throws {
            place = try Workplace()
            try place.makeStore("a.db", "a", rows: 0..<3)
        }

        /// Runs `status --watch` until what it prints meets a condition, and ends it as Ctrl-C would.
        private func watch(
            _ arguments: [String], until isDone: (String) throws -> Bool
        ) throws -> (output: String, status: Int32) {
            let folder = try TemporaryFolder()
            try folder.write("", to: "input")
            let program = try #require(CommandRunner.program)
            let words =
                ["-k", "60", "300", program, "status", place.path("a.db"), "--watch"] + arguments
                + ["--passphrase-file", place.secret("a")]
            let process = try CommandRunner.spawn("/usr/bin/timeout", words, CommandRunner.inherited, folder)
            var code: Int32 = 0
            var hasEnded = false
            defer { if !hasEnded { kill(process, SIGKILL) } }
            while try !isDone(folder.text("output")) {
                // It must not end by itself.
                hasEnded = waitpid(process, &code, WNOHANG) != 0
                guard !hasEnded else { break }
                usleep(20_000)
            }
            if !hasEnded {
                kill(process, SIGTERM)
                _ = waitpid(process, &code, 0)
                hasEnded = true
            }
            return (try folder.text("output"), (code >> 8) & 0xFF)
        }

        @Test func eachChangeOfAnotherProgramIsALine() throws {
            var hasWritten = false
            let result = try watch(["--json"]) { output in
                let lines = output.split(separator: "\n")
                if lines.count == 1, !hasWritten {
                    hasWritten = true
                    let queue = try place.open("a.db", "a")
                    try StoreProbe.insert(10..<12, into: queue)
                    try queue.close()
                }
                return lines.count > 1
            }
            #expect(result.status == 0)
            let documents = try result.output.split(separator: "\n").map {
                try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let rows = documents.map { (($0["tables"] as? [[String: Any]])?.first?["rows"] as? Int) ?? -1 }
            #expect(rows.first == 3 && rows.last == 5)
            let written = documents.compactMap { $0["written"] as? Int }
            #expect(written.count == documents.count && written[1] == written[0] + 2)
        }

        @Test func withoutATerminalItIsTextWithTheTime() throws {
            let result = try watch([]) { $0.contains("open conflicts") }
            #expect(
                result.status == 0 && result.output.contains("person") && !result.output.contains("\u{1B}"))
        }
    }

    /// What `status --watch` shows.
    @Suite struct StatusScreenTests {
        private let start = ContinuousClock.now

        @Test func ratesAreThoseOfTheLastSeconds() {
            var rates = ChangeRates()
            rates.add(written: 100, received: 0, at: start)
            #expect(rates.perSecond == (0, 0))
            rates.add(written: 120, received: 5, at: start + .seconds(10))
            #expect(rates.perSecond == (2, 0.5))
            #expect(rates.text == "changes a second: 2.0 made here, 0.5 received")
            for second in 11...40 { rates.add(written: 120, received: 5, at: start + .seconds(second)) }
            #expect(rates.perSecond == (0, 0))
        }

        @Test func whatAnotherProgramSetBackIsNoRate() {
            var rates = ChangeRates()
            rates.add(written: .max, received: .max, at: start)
            rates.add(written: .min, received: 0, at: start + .seconds(1))
            #expect(rates.perSecond == (0, 0))
            rates.add(written: .max, received: .max, at: start + .seconds(2))
            _ = rates.text
        }

        @Test func theScreenIsReplacedAndGivenBack() throws {
            let pipe = Pipe()
            let streams = Terminal.Streams(
                output: pipe.fileHandleForWriting.fileDescriptor, outputIsTerminal: true, width: 80)
            let screen = StatusScreen(terminal: Terminal(streams: streams))
            try screen.show((1...30).map { "line \($0)" }.joined(separator: "\n"))
            try screen.show("short")
            try screen.leave()
            try screen.leave()
            try pipe.fileHandleForWriting.close()
            let text = String(
                decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            #expect(text.components(separatedBy: "\u{1B}[?1049h").count == 2)
            #expect(text.components(separatedBy: "\u{1B}[?1049l").count == 2)
            #expect(text.contains("line 22") && text.contains("… 8 more lines") && !text.contains("line 23"))
            #expect(text.contains("\u{1B}[H\u{1B}[2Kshort\n\u{1B}[J"))
        }
    }
#endif
