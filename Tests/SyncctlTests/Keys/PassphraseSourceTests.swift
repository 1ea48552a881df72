import CipherStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SyncctlCommands
@testable import syncctl

/// Whether a source gives this passphrase.
private func gives(_ expected: String, _ source: PassphraseSource) throws -> Bool {
    let passphrase = try PassphraseReader().read(source, for: PassphraseRequest(.store))
    return passphrase.matches(try Passphrase(expected))
}

/// The failure of a source that must fail.
private func readingFailure(_ source: PassphraseSource, timeout: Duration = .seconds(60)) -> Failure? {
    let reader = PassphraseReader(command: PassphraseCommand(timeout: timeout))
    return #expect(throws: Failure.self) { _ = try reader.read(source, for: PassphraseRequest(.store)) }
}

/// Tests of what the whole process shares: its environment, its children, its signals.
@Suite(.serialized, .anyEngine) enum ProcessWideTests {}

/// A folder that is removed with the value.
private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("syncctl-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ content: String, mode: mode_t = 0o600) throws -> String {
        let path = url.appendingPathComponent("passphrase").path
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        return try #require(chmod(path, mode) == 0 ? path : nil)
    }
}

/// A terminal that a test types on.
private final class PseudoTerminal: Sendable {
    let path: String
    private let controller: Int32
    private let device: Int32  // Keeps the terminal alive while the prompt has it closed.

    init() throws {
        var (controller, device): (Int32, Int32) = (-1, -1)
        try #require(openpty(&controller, &device, nil, nil, nil) == 0)
        (self.controller, self.device) = (controller, device)
        path = String(cString: try #require(ttyname(device)))
    }

    deinit { for descriptor in [controller, device] { close(descriptor) } }

    func type(_ text: String) { _ = DescriptorOutput.write(text, to: controller) }

    var showsInput: Bool {
        var settings = termios()
        return tcgetattr(device, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// What appears on the screen, up to and with a text.
    func screen(until text: String) -> String {
        var shown = ""
        var byte: UInt8 = 0
        var entry = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
        while !shown.hasSuffix(text), poll(&entry, 1, 10_000) == 1, read(controller, &byte, 1) == 1 {
            shown.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return shown
    }
}

extension ProcessWideTests {
    @Suite("Passphrases from files and descriptors")
    struct PassphraseFileTests {
        @Test(arguments: [
            ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"),
            ("secret\n\n", "secret\n"),
            (" secret \n", " secret "), ("two\nlines\n", "two\nlines"), ("secret\r", "secret\r"),
        ])
        func oneNewlineAtTheEndIsRemovedAndNothingElse(content: String, expected: String) throws {
            let folder = try Folder()
            #expect(try gives(expected, .file(folder.file(content))))
        }

        @Test(arguments: [0o640, 0o604, 0o644, 0o620, 0o602] as [mode_t])
        func aFileThatOthersCanReadOrChangeIsRefused(mode: mode_t) throws {
            let folder = try Folder()
            let path = try folder.file("secret", mode: mode)
            let failure = try #require(readingFailure(.file(path)))
            #expect(failure.message.contains(String(mode, radix: 8)))
            #expect(failure.hints == ["chmod 600 \(path)"])
        }

        @Test func theLimitIsOnThePassphraseAndNotOnItsNewline() throws {
            let folder = try Folder()
            let longest = String(repeating: "x", count: 1024)
            #expect(try gives(longest, .file(folder.file(longest + "\r\n"))))
            for tooLong in [longest + "x", longest + "x\r\n", longest + longest] {
                let failure = readingFailure(.file(try folder.file(tooLong)))
                #expect(failure?.message.hasSuffix("is longer than 1,024 bytes") == true)
            }
        }

        @Test func whatHoldsNoPassphraseIsRefused() throws {
            let folder = try Folder()
            let path = folder.url.path
            for content in ["", "\n"] {
                let isEmpty = readingFailure(.file(try folder.file(content)))?.message
                #expect(isEmpty == "passphrase file \(path)/passphrase is empty")
            }
            let isFolder = readingFailure(.file(path))?.message
            #expect(isFolder == "passphrase file \(path) is neither a regular file nor a pipe")
            let isMissing = readingFailure(.file(path + "/x"))?.message
            #expect(isMissing == "cannot open passphrase file \(path)/x: no such file or directory")
            let isClosed = readingFailure(.descriptor(987))?.message
            #expect(isClosed == "cannot read file descriptor 987: bad file descriptor")
        }

        @Test func aNamedPipeMayHaveAnyMode() throws {
            let folder = try Folder()
            let path = folder.url.path + "/pipe"
            try #require(mkfifo(path, 0o644) == 0)
            Thread.detachNewThread { try? Data("secret\n".utf8).write(to: URL(fileURLWithPath: path)) }
            #expect(try gives("secret", .file(path)))
        }

        @Test func aDescriptorIsReadToItsEnd() throws {
            let pipe = Pipe()
            for part in ["sec", "ret\n"] { try pipe.fileHandleForWriting.write(contentsOf: Data(part.utf8)) }
            try pipe.fileHandleForWriting.close()
            #expect(try gives("secret", .descriptor(pipe.fileHandleForReading.fileDescriptor)))
        }
    }

    @Suite("Passphrases from commands and variables")
    struct PassphraseCommandTests {
        @Test func aCommandRunsWithoutAShell() throws {
            #expect(try gives("$HOME * | cat; `id`", .command("echo '$HOME * |' cat\\; \"`id`\"")))
        }

        @Test func aFailingCommandShowsItsStatusAndNeverItsOutput() throws {
            #expect(message("sh -c 'id; exit 3'") == "passphrase command sh failed with exit status 3")
            #expect(message("sh -c 'kill -9 $$'") == "passphrase command sh was ended by signal 9")
            #expect(message("nope x") == "cannot run passphrase command nope: no such file or directory")
        }

        @Test(arguments: [
            ("sleep 60.125", "60.125"), ("sh -c 'echo leaked; exec sleep 60.25 >&-'", "60.25"),
            ("sh -c \"trap '' TERM; exec sleep 60.375\"", "60.375"),
        ])
        func aCommandThatDoesNotEndIsEnded(line: String, argument: String) throws {
            let failure = readingFailure(.command(line), timeout: .milliseconds(20))
            #expect(failure?.message.hasSuffix("did not end within 20 ms") == true)
            #expect(try !isRunning("sleep", argument))
        }

        @Test func aRunningCommandIsFoundByItsArgument() throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sleep")
            process.arguments = ["600.625"]
            try process.run()
            // The system shows the arguments once the child has begun the program.
            let end = ContinuousClock.now + .seconds(600)
            while try !isRunning("sleep", "600.625"), process.isRunning, ContinuousClock.now < end {}
            #expect(try isRunning("sleep", "600.625") && process.isRunning)
            // A child may have inherited that other signals are blocked.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(try !isRunning("sleep", "600.625"))
        }

        /// Whether a process of this machine has a name and an argument that nobody else uses.
        private func isRunning(_ name: String, _ argument: String) throws -> Bool {
            #if os(Linux)
                return try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { entry in
                    // A process that ended meanwhile has no such file any more.
                    let words = FileManager.default.contents(atPath: "/proc/\(entry)/cmdline")?
                        .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                    return words?.count == 2 && words?.first?.hasSuffix(name) == true
                        && words?.last == argument
                }
            #else
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/pgrep")
                process.arguments = ["-f", "^[^ ]*\(name) \(argument)$"]
                try process.run()
                process.waitUntilExit()
                return process.terminationStatus == 0
            #endif
        }

        @Test func aCommandIsGivenNoInputAndLittleOutput() {
            #expect(message("yes") == "the output of passphrase command yes is longer than 1,024 bytes")
            #expect(message("cat") == "the output of passphrase command cat is empty")
        }

        @Test func aCommandDoesNotInheritPassphrases() throws {
            setenv("SYNCCTL_CLONE_PASSPHRASE", "secret", 1)
            setenv("SYNCCTL_CLONE_PASSPHRASE_FILE", "clone.txt", 1)
            defer { for name in ["", "_FILE"] { unsetenv("SYNCCTL_CLONE_PASSPHRASE\(name)") } }
            #expect(message("printenv SYNCCTL_CLONE_PASSPHRASE")?.hasSuffix("exit status 1") == true)
            #expect(try gives("clone.txt", .command("printenv SYNCCTL_CLONE_PASSPHRASE_FILE")))
        }

        @Test func aVariableIsRemovedOnceItIsRead() throws {
            setenv("SYNCCTL_TO_PASSPHRASE", "secret\n", 1)
            #expect(PassphraseEnvironment.current()["SYNCCTL_TO_PASSPHRASE"] == "<secret>")
            let bytes = try #require(getenv("SYNCCTL_TO_PASSPHRASE"))
            // Not trimmed: nothing adds a newline to a variable by accident.
            #expect(try gives("secret\n", .environment("SYNCCTL_TO_PASSPHRASE")))
            #expect(getenv("SYNCCTL_TO_PASSPHRASE") == nil && bytes.pointee == 0)
            let again = readingFailure(.environment("SYNCCTL_TO_PASSPHRASE"))
            #expect(again?.message == "SYNCCTL_TO_PASSPHRASE is not set")
        }

        @Test(arguments: [
            ("pass show notes", ["pass", "show", "notes"]), ("  a \t b\n", ["a", "b"]), ("a ''", ["a", ""]),
            (#"a 'b \ "c"'"#, ["a", #"b \ "c""#]), (#"a "b \" \\ \n '""#, ["a", #"b " \ \n '"#]),
            (#"a b\ c\'"#, ["a", "b c'"]), (#"--x='1 2'"3"4"#, ["--x=1 234"]), ("é 'ü'", ["é", "ü"]),
        ])
        func wordsAreSplitByTheDocumentedRule(line: String, words: [String]) throws {
            #expect(try CommandWords.split(line) == words)
            #expect(try CommandWords.split(words.map(CommandWords.quoted).joined(separator: " ")) == words)
        }

        @Test(arguments: ["", "  ", "''", "a 'b", "a \"b", "a \\", "a \0"])
        func aLineThatIsNoCommandIsAUsageError(line: String) {
            #expect(readingFailure(.command(line))?.status == .usage)
        }

        private func message(_ line: String) -> String? { readingFailure(.command(line))?.message }
    }

    @Suite("Prompt on a terminal")
    struct PassphrasePromptTests {
        private typealias Step = (prompt: String, action: @Sendable (PseudoTerminal) -> Void)

        /// Does each step at its prompt, while `ask` asks; returns what was on the screen.
        @discardableResult
        private func dialog(_ steps: [Step], ask: (PassphrasePrompt) throws -> Void) throws -> String {
            let terminal = try PseudoTerminal()
            let screen = Mutex("")
            let driver = DispatchGroup()
            driver.enter()
            // A thread of its own, because other tests may keep those of the global queue busy.
            Thread.detachNewThread {
                defer { driver.leave() }
                for step in steps {
                    let shown = terminal.screen(until: step.prompt)
                    screen.withLock { $0 += shown + (terminal.showsInput ? "shows input" : "") }
                    step.action(terminal)
                }
                screen.withLock { $0 += terminal.screen(until: "\u{1B}[K") }
            }
            let result = Result { try ask(PassphrasePrompt(device: terminal.path)) }
            driver.wait()
            let shown = screen.withLock { $0 }
            #expect(terminal.showsInput && !shown.contains("shows input"))
            try result.get()
            return shown
        }

        /// What was on the screen while the steps gave `secret`.
        @discardableResult
        private func secret(_ steps: [Step], for request: PassphraseRequest) throws -> String {
            try dialog(steps) { prompt in
                let passphrase = try prompt.ask(request)
                #expect(try passphrase.matches(Passphrase("secret")))
            }
        }

        private func typed(_ text: String, at prompt: String = "Enter passphrase: ") -> Step {
            (prompt, { $0.type(text) })
        }

        private func failure(_ steps: [Step], isNew: Bool = false) -> Failure? {
            #expect(throws: Failure.self) {
                try dialog(steps) { _ = try $0.ask(PassphraseRequest(.store, isNew: isNew)) }
            }
        }

        @Test func whatIsTypedIsHiddenAndThePromptIsErased() throws {
            let answer = typed("secret\n", at: "Enter passphrase for a\\u{1b}.db: ")
            let screen = try secret([answer], for: PassphraseRequest(.store, subject: "a\u{1B}.db"))
            #expect(screen == "Enter passphrase for a\\u{1b}.db: \r\u{1B}[K")
        }

        @Test func theLinkOfAnInvitationIsHiddenToo() throws {
            let link = "cipherstore://127.0.0.1:1/secret"
            let screen = try dialog([typed(link + "\n", at: "Enter the link of the invitation: ")]) {
                let asked = try InvitationArgument.ask($0.device)
                #expect(asked == link)
            }
            #expect(screen == "Enter the link of the invitation: \r\u{1B}[K")
        }

        @Test func aNewPassphraseIsAskedForTwice() throws {
            let repeated = "Repeat passphrase: "
            let first = typed("secret\n", at: "Enter new passphrase: ")
            try secret([first, typed("secret\n", at: repeated)], for: PassphraseRequest(.new))
            for other in ["secret \n", "\n"] {
                let failure = failure([typed("secret\n"), typed(other, at: repeated)], isNew: true)
                #expect(failure?.message == "the two passphrases are not the same")
            }
        }

        @Test func anEmptyAnswerIsRefusedUnlessItHasAMeaning() throws {
            #expect(failure([typed("\n")])?.message == "the passphrase is empty")
            try dialog([typed("\n", at: "Enter passphrase (empty to generate one): ")]) { prompt in
                let isAbsent = try prompt.ask(PassphraseRequest(.store), note: "empty to generate one") == nil
                #expect(isAbsent)
            }
        }

        @Test func anOverlongAnswerIsRefusedAndTheEndOfInputCancels() {
            let tooLong = failure([typed(String(repeating: "x", count: 2000) + "\n")])
            #expect(tooLong?.message == "the passphrase is longer than 1,024 bytes")
            #expect(failure([typed("\u{4}")]) == .cancelled)
        }

        @Test func theEchoComesBackBeforeASignalIsPassedOnAndAfterAStopItAsksAnew() throws {
            let before = [SIGTERM, SIGTSTP].map { ($0, signal($0, SIG_IGN)) }
            defer { for (number, action) in before { signal(number, action) } }
            #expect(failure([("Enter passphrase: ", { _ in kill(getpid(), SIGTERM) })]) == .cancelled)
            let stop: Step = ("Enter passphrase: ", { _ in kill(getpid(), SIGTSTP) })
            try secret([stop, typed("secret\n")], for: PassphraseRequest(.store))
        }

        @Test(arguments: ["/dev/null", "/no/such/terminal"])
        func withoutATerminalTheFlagsAreNamed(device: String) {
            for kind in PassphraseKind.allCases {
                let failure = #expect(throws: Failure.self) {
                    _ = try PassphrasePrompt(device: device).ask(PassphraseRequest(kind))
                }
                #expect(failure?.status == .usage)
                #expect(failure?.hints.first?.contains("\(kind.fileFlag), \(kind.commandFlag) or") == true)
            }
        }
    }
}
