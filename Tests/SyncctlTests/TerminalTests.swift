import ArgumentParser
import Foundation
import Synchronization
import Testing

@testable import SyncctlCommands
@testable import syncctl

/// Collects what a terminal writes to a pipe.
private final class Capture: Sendable {
    private let pipe = Pipe()

    var descriptor: Int32 { pipe.fileHandleForWriting.fileDescriptor }

    /// All that was written, once nothing more will be.
    func text() throws -> String {
        try pipe.fileHandleForWriting.close()
        return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}

/// What a test saw on the streams of a terminal of 80 columns.
private func written(
    isTerminal: Bool, color: ColorPolicy = .never, allowsProgress: Bool = true,
    _ body: (Terminal) throws -> Void
) throws -> (output: String, error: String) {
    let (output, error) = (Capture(), Capture())
    let streams = Terminal.Streams(
        output: output.descriptor, error: error.descriptor, outputIsTerminal: isTerminal,
        errorIsTerminal: isTerminal, width: 80)
    try body(Terminal(streams: streams, color: color, allowsProgress: allowsProgress))
    return (try output.text(), try error.text())
}

@Suite("Failures on stderr")
struct FailureReporterTests {
    private let failure = Failure(
        "no key opens \"a\u{1B}b\"", hints: ["2 keys tried", "see help"], status: .noKeyOpens)

    private func report(isJSON: Bool, color: ColorPolicy = .auto) throws -> String {
        let streams = try written(isTerminal: false, color: color) {
            FailureReporter(terminal: $0, isJSON: isJSON).report(failure)
        }
        #expect(streams.output.isEmpty)
        return streams.error
    }

    @Test func peopleReadLinesWithoutControlCharacters() throws {
        let hints = "syncctl: hint: 2 keys tried\nsyncctl: hint: see help\n"
        #expect(try report(isJSON: false) == #"syncctl: error: no key opens "a\u{1b}b""# + "\n" + hints)
        let colored = try report(isJSON: false, color: .always)
        #expect(colored.hasPrefix("syncctl: \u{1B}[31merror:\u{1B}[0m no key"))
    }

    @Test func programsReadOneDocumentWithFieldsInOrderAndTheDocumentedCodes() throws {
        let text = try report(isJSON: true, color: .always)
        #expect(
            text == #"{"message_type":"exit_error","code":12,"message":"no key opens \"a\u001bb\"","#
                + #""hint":"2 keys tried\nsee help"}"# + "\n")
        let fields = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(fields?["message"] as? String == failure.message)
        #expect(!FailureReporter.document(Failure("x")).contains("hint"))
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 3, 10, 11, 12, 13, 14, 15, 16, 64, 130])
    }
}

extension ProcessWideTests {
    @Suite("Streams and colour")
    struct TerminalStreamTests {
        @Test(
            arguments: [
                (ColorPolicy.auto, true, [:], true), (.auto, false, [:], false), (.never, true, [:], false),
                (.auto, true, ["NO_COLOR": "1"], false), (.auto, true, ["NO_COLOR": ""], true),
                (.auto, true, ["TERM": "dumb"], false), (.auto, false, ["CLICOLOR_FORCE": "1"], true),
                (.auto, false, ["CLICOLOR_FORCE": "0"], false),
                (.auto, true, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false),
                (.always, false, ["NO_COLOR": "1"], true),
            ] as [(ColorPolicy, Bool, [String: String], Bool)])
        func colorIsDecidedByFlagThenVariablesThenTerminal(
            policy: ColorPolicy, isTerminal: Bool, environment: [String: String], expected: Bool
        ) {
            #expect(policy.isEnabled(isTerminal: isTerminal, environment: environment) == expected)
        }

        @Test func aClosedOutputEndsQuietlyAndAClosedErrorStreamIsIgnored() throws {
            signal(SIGPIPE, SIG_IGN)
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            defer { close(ends[1]) }
            close(ends[0])
            let endings = Mutex(0)
            let streams = Terminal.Streams(
                output: ends[1], error: ends[1], outputClosed: { endings.withLock { $0 += 1 } })
            let terminal = Terminal(streams: streams)
            terminal.writeError("nobody reads this")
            #expect(endings.withLock { $0 } == 0)
            #expect(throws: Failure.self) { try terminal.writeOutput("nor this") }
            #expect(endings.withLock { $0 } == 1)
            let broken = Terminal(streams: Terminal.Streams(output: 987))
            let failure = #expect(throws: Failure.self) { try broken.writeOutput("lost") }
            #expect(failure?.message == "cannot write to standard output: bad file descriptor")
        }

        @Test func aMessageStandsAboveTheLiveLine() throws {
            let streams = try written(isTerminal: true) { terminal in
                terminal.showLiveLine("50%")
                terminal.writeError("careful")
                try terminal.writeOutput("row")
                terminal.endLiveLine()
                terminal.endLiveLine()
            }
            let erase = "\r\u{1B}[K"
            #expect(streams.error == "\(erase)50%\(erase)careful\n50%\(erase)50%\n")
            #expect(streams.output == "row\n")
        }

        @Test func jsonQuietAndTheFlagSwitchProgressOff() throws {
            #expect(try GlobalOptions.parse([]).allowsProgress)
            for arguments in [["--json"], ["-q"], ["--no-progress"]] {
                #expect(try !GlobalOptions.parse(arguments).allowsProgress)
            }
            #expect(try GlobalOptions.parse(["--color", "never"]).color == .never)
        }
    }
}

@Suite("Progress line")
struct ProgressLineTests {
    private final class Time: Sendable { let now = Mutex(ContinuousClock.now) }

    private let text = ProgressText(
        elapsed: .seconds(29), completed: 182_000, total: 336_776, bytes: 1_400_000, rate: 61_204)

    @Test func theBarAndTheLeastUsefulPartsGoAsTheTerminalGetsNarrower() {
        let all = "[0:29]  54%  ━━━━━━━━━━━━────────────  182,000 rows  1.3 MiB  61,204 rows/s  ETA 0:03"
        #expect(text.line(width: 120) == all)
        #expect(
            text.line(width: 69) == "[0:29]  54%  ━━━━────  182,000 rows  1.3 MiB  61,204 rows/s  ETA 0:03")
        #expect(text.line(width: 68) == "[0:29]  54%  182,000 rows  1.3 MiB  61,204 rows/s  ETA 0:03")
        #expect(text.line(width: 58) == "[0:29]  54%  182,000 rows  61,204 rows/s  ETA 0:03")
        #expect(text.line(width: 40) == "[0:29]  54%  182,000 rows  ETA 0:03")
        #expect(text.line(width: 30) == "[0:29]  54%  182,000 rows")
        #expect(text.line(width: 10) == "[0:29]  54")
        for width in 0...120 {
            #expect(PrintableText.width(of: text.line(width: width)) <= width)
        }
    }

    @Test func withoutATotalThereIsNoPercentageAndNoBar() {
        var unknown = text
        (unknown.total, unknown.bytes, unknown.label, unknown.unit) = (nil, nil, "pull", .bytes)
        #expect(unknown.line(width: 80) == "pull  [0:29]  178 KiB  59.8 KiB/s")
        #expect(text.line(width: 120, usesUnicode: false).contains("  ============------------  "))
    }

    @Test func itIsDrawnTenTimesASecondAndItsLastLineIsKept() throws {
        let streams = try written(isTerminal: true) { terminal in
            let time = Time()
            let line = ProgressLine("push", terminal: terminal, now: { time.now.withLock { $0 } })
            for step in 1...100 {
                time.now.withLock { $0 += .milliseconds(10) }
                line.update(completed: step * 10, total: 2000)
            }
            time.now.withLock { $0 += .seconds(1) }
            line.update(completed: 2000)
            for _ in 1...2 { line.finish() }
            line.advance()
        }
        let drawn = streams.error.components(separatedBy: "\r\u{1B}[K").dropFirst()
        #expect(drawn.count == 12)
        #expect(drawn.first == "push  [0:00]   0%  ------------------------  10 rows")
        #expect(
            drawn.dropFirst(9).first
                == "push  [0:00]  45%  ==========--------------  910 rows  1,000 rows/s  ETA 0:02")
        #expect(drawn.last == "push  [0:02] 100%  ========================  2,000 rows  1,000 rows/s\n")
    }

    @Test func itIsSilentWhereStderrIsNoTerminalOrProgressIsOff() throws {
        for (isTerminal, allowsProgress) in [(false, true), (true, false)] {
            let streams = try written(isTerminal: isTerminal, allowsProgress: allowsProgress) { terminal in
                let line = ProgressLine(terminal: terminal)
                line.update(completed: 1, total: 1)
                line.finish()
            }
            #expect(streams.error.isEmpty)
        }
    }
}

@Suite("Tables and numbers")
struct TableTests {
    @Test func textStandsLeftAndNumbersRight() {
        var table = Table([.text("NAME"), .number("ROWS"), .text("")])
        table.addRow(["task", "1,204", "日本"])
        table.addRow([Table.Cell("n\n", .green), "7"], marker: "*")
        #expect(table.lines() == ["  NAME   ROWS", "  task  1,204  日本", "* n\\n       7"])
        let colored = table.lines(style: Style(isEnabled: true))
        #expect(colored[2] == "* \u{1B}[32mn\\n\u{1B}[0m       7" && colored[0].hasPrefix("  \u{1B}[2mNAME"))
        var untitled = Table([.text(""), .text("")], indent: 2)
        untitled.addRow(["a", ""])
        untitled.addRow(["日本語", "b"])
        #expect(untitled.text() == "  a\n  日本語  b")
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1,023 B"), (1024, "1 KiB"), (12_390, "12.1 KiB"), (325_632, "318 KiB"),
        (102_348, "99.9 KiB"), (102_400, "100 KiB"), (1_048_575, "1 MiB"), (Int.max, "8 EiB"),
        (-2048, "-2 KiB"),
    ])
    func sizesHaveThreeDigits(value: Int, text: String) {
        #expect(HumanFormat.bytes(value) == text)
    }

    @Test func countsAndDurationsAreGrouped() {
        #expect(
            [0, 999, 1204, -1_234_567].map { HumanFormat.count($0) } == ["0", "999", "1,204", "-1,234,567"])
        #expect(HumanFormat.count(Int.min) == "-9,223,372,036,854,775,808")
        #expect(HumanFormat.count(1, "change") == "1 change")
        #expect(HumanFormat.count(2, "entry", plural: "entries") == "2 entries")
        #expect([29, 725, 3723].map { HumanFormat.clock(.seconds($0)) } == ["0:29", "12:05", "1:02:03"])
        #expect(HumanFormat.age(of: 0, now: 245_000) == "4 min ago")
        #expect(HumanFormat.age(of: Int64.min, now: Int64.max) == "just now")
    }
}

@Suite("Options that name the source of a passphrase")
struct PassphraseOptionsTests {
    private static let groups: [any PassphraseOptions.Type] = [
        StorePassphraseOptions.self, RemotePassphraseOptions.self, NewPassphraseOptions.self,
        TargetPassphraseOptions.self, ClonePassphraseOptions.self, ArchivePassphraseOptions.self,
        BundlePassphraseOptions.self,
    ]

    private func source(
        _ arguments: [String], _ environment: [String: String] = [:],
        of group: any PassphraseOptions.Type = StorePassphraseOptions.self
    ) throws -> PassphraseSource? {
        try group.parse(arguments).passphraseSource(environment: environment)
    }

    @Test func everyKindHasTheFlagsAndVariablesThatItsMessagesName() throws {
        #expect(Self.groups.map { $0.kind } == PassphraseKind.allCases)
        for group in Self.groups {
            let kind = group.kind
            #expect(try source([kind.fileFlag, "f"], of: group) == .file("f"))
            #expect(try source([kind.commandFlag, "c x"], of: group) == .command("c x"))
            #expect(try source([kind.descriptorFlag, "3"], of: group) == .descriptor(3))
            #expect(try source([], [kind.fileVariable: "f"], of: group) == .file("f"))
            #expect(try source([], [kind.commandVariable: "c"], of: group) == .command("c"))
            #expect(try source([], [kind.valueVariable: "v"], of: group) == .environment(kind.valueVariable))
        }
        #expect(PassphraseKind.store.valueVariable == "SYNCCTL_PASSPHRASE")
        #expect(PassphraseKind.target.fileVariable == "SYNCCTL_TO_PASSPHRASE_FILE")
    }

    @Test func withoutASourceTheStoreTheArchiveAndWhatIsNewAreAskedFor() throws {
        let fallbacks = try Self.groups.map { try source([], of: $0) }
        #expect(fallbacks == [.prompt, nil, .prompt, .prompt, nil, .prompt, .prompt])
    }

    @Test func aFlagWinsOverVariablesAndAFileOverACommandOverAValue() throws {
        var environment = [
            "SYNCCTL_PASSPHRASE": "v", "SYNCCTL_PASSPHRASE_COMMAND": "c", "SYNCCTL_PASSPHRASE_FILE": "f",
        ]
        #expect(try source(["--passphrase-fd", "0"], environment) == .descriptor(0))
        #expect(try source([], environment) == .file("f"))
        environment["SYNCCTL_PASSPHRASE_FILE"] = nil
        #expect(try source([], environment) == .command("c"))
    }

    @Test func twoSourcesOfAKindAreAUsageErrorThatNamesBoth() throws {
        let failure = #expect(throws: Failure.self) {
            try source(
                ["--new-passphrase-fd", "3", "--new-passphrase-file", "f"], of: NewPassphraseOptions.self)
        }
        #expect(failure?.message == "--new-passphrase-file and --new-passphrase-fd exclude each other")
        #expect(failure?.status == .usage)
    }

    @Test func aVariableThatIsSetButEmptyIsRefused() {
        for name in ["SYNCCTL_PASSPHRASE", "SYNCCTL_PASSPHRASE_FILE"] {
            let failure = #expect(throws: Failure.self) { try source([], [name: ""]) }
            #expect(failure?.message == "\(name) is set but empty")
        }
    }
}
