import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The two streams of the process: data goes to stdout, everything else to stderr.
///
/// All output passes through here, so that a message never ends up in the middle of a progress
/// line: the line is taken away first and drawn again below the message.
package final class Terminal: Sendable {
    /// The descriptors behind the streams, and what tests decide in place of the system.
    struct Streams: Sendable {
        var output: Int32 = STDOUT_FILENO
        var error: Int32 = STDERR_FILENO
        /// Whether stdout is a terminal; asked from the system by default.
        var outputIsTerminal: Bool?
        /// Whether stderr is a terminal; asked from the system by default.
        var errorIsTerminal: Bool?
        /// The number of columns; asked from the system by default.
        var width: Int?
        /// What happens when the reader of stdout has gone. By default the process ends as
        /// quietly as by `SIGPIPE`.
        var outputClosed: @Sendable () -> Void = { Terminal.endByBrokenPipe() }
    }

    let outputIsTerminal: Bool
    let errorIsTerminal: Bool
    /// Emphasis for text that goes to stdout.
    package let outputStyle: Style
    /// Emphasis for text that goes to stderr.
    let errorStyle: Style
    /// Whether stderr can show a line that changes in place, and the command wants one.
    let showsLiveLine: Bool
    /// Whether the locale says that characters outside of ASCII can be shown.
    let usesUnicode: Bool

    private let streams: Streams
    private let columns: Int?
    private let liveLine = Mutex<String?>(nil)

    init(
        streams: Streams = Streams(), environment: [String: String] = [:], color: ColorPolicy = .auto,
        allowsProgress: Bool = true
    ) {
        self.streams = streams
        outputIsTerminal = streams.outputIsTerminal ?? (isatty(streams.output) == 1)
        errorIsTerminal = streams.errorIsTerminal ?? (isatty(streams.error) == 1)
        outputStyle = Style(
            isEnabled: color.isEnabled(isTerminal: outputIsTerminal, environment: environment))
        errorStyle = Style(
            isEnabled: color.isEnabled(isTerminal: errorIsTerminal, environment: environment))
        showsLiveLine = allowsProgress && errorIsTerminal && environment["TERM"] != "dumb"
        usesUnicode = Self.localeUsesUnicode(environment)
        columns = environment["COLUMNS"].flatMap { Int($0) }
    }

    /// The terminal of this process. From here on, writing to a closed pipe is an error that
    /// `Terminal` handles and no longer a signal.
    static func standard(
        environment: [String: String], color: ColorPolicy = .auto, allowsProgress: Bool = true
    ) -> Terminal {
        signal(SIGPIPE, SIG_IGN)
        return Terminal(
            streams: CommandSurroundings.current?.streams ?? Streams(), environment: environment,
            color: color, allowsProgress: allowsProgress)
    }

    /// The number of columns, asked anew each time: a window can change. 80 when nobody knows.
    var width: Int {
        if let width = streams.width { return width }
        var size = winsize()
        for descriptor in [streams.error, streams.output] {
            if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
                return Int(size.ws_col)
            }
        }
        return columns.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// Where data goes.
    var outputDescriptor: Int32 { streams.output }

    /// The number of lines, asked anew each time. 24 when nobody knows.
    var height: Int {
        var size = winsize()
        guard ioctl(streams.output, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 3 else { return 24 }
        return Int(size.ws_row)
    }

    // MARK: - Writing

    /// Writes data to stdout, with a newline unless told otherwise.
    ///
    /// Throws when the data cannot be written, so that a full disk never passes for success.
    func writeOutput(_ text: String, terminator: String = "\n") throws {
        try writeOutput { DescriptorOutput.write(text + terminator, to: $0) }
    }

    /// Writes raw bytes to stdout.
    func writeOutput(bytes: UnsafeRawBufferPointer) throws {
        try writeOutput { DescriptorOutput.write(bytes, to: $0) }
    }

    /// Writes a message to stderr, with a newline unless told otherwise.
    ///
    /// A message that cannot be written is dropped: the command goes on, and its exit code still
    /// tells how it ended.
    func writeError(_ text: String, terminator: String = "\n") {
        liveLine.withLock { line in
            let shown = line ?? ""
            let erase = line == nil ? "" : Self.eraseLine
            _ = DescriptorOutput.write(erase + text + terminator + shown, to: streams.error)
        }
    }

    /// Writes a message to stderr that must not be lost, as `writeError` may lose one.
    func writeErrorSurely(_ text: String) throws {
        let code = liveLine.withLock { line in
            let erase = line == nil ? "" : Self.eraseLine
            return DescriptorOutput.write(erase + text + "\n" + (line ?? ""), to: streams.error)
        }
        guard code == 0 else { throw Failure.system("cannot write to standard error", code: code) }
        try Self.flush(streams.error, "standard error")
    }

    /// Sees that what was written to stdout outlives the machine, where it goes into a file.
    func flushOutput() throws { try Self.flush(streams.output, "standard output") }

    // MARK: - The live line

    /// Shows a line on stderr in place of the live line before it.
    func showLiveLine(_ text: String) {
        guard showsLiveLine else { return }
        liveLine.withLock { line in
            line = text
            _ = DescriptorOutput.write(Self.eraseLine + text, to: streams.error)
        }
    }

    /// Keeps the live line on the screen and starts a new line below it.
    func endLiveLine() {
        liveLine.withLock { line in
            guard line != nil else { return }
            line = nil
            _ = DescriptorOutput.write("\n", to: streams.error)
        }
    }

    // MARK: - Private

    /// Back to the first column, and nothing to the right of it.
    private static let eraseLine = "\r\u{1B}[K"

    private func writeOutput(_ body: (Int32) -> Int32) throws {
        let code = liveLine.withLock { line in
            guard let shown = line, outputIsTerminal else { return body(streams.output) }
            _ = DescriptorOutput.write(Self.eraseLine, to: streams.error)
            defer { _ = DescriptorOutput.write(shown, to: streams.error) }
            return body(streams.output)
        }
        if code == EPIPE {
            streams.outputClosed()
        }
        guard code == 0 else {
            throw Failure.system("cannot write to standard output", code: code)
        }
    }

    /// Pipes and terminals have nothing to flush, and say so: only a file that can't take it is an error.
    private static func flush(_ descriptor: Int32, _ name: String) throws {
        guard fsync(descriptor) != 0 else { return }
        let code = errno
        if [EIO, ENOSPC, EDQUOT].contains(code) {
            throw Failure.system("cannot write to \(name)", code: code)
        }
    }

    /// Ends the process by `SIGPIPE`, which is what the shell and the caller of a filter expect
    /// when nobody reads on.
    private static func endByBrokenPipe() {
        signal(SIGPIPE, SIG_DFL)
        ThreadSignal.raiseNow(SIGPIPE)
        exit(ExitStatus.failure.rawValue)
    }

    private static func localeUsesUnicode(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
        guard let name = names.first(where: { !$0.isEmpty })?.lowercased() else { return false }
        return name.contains("utf-8") || name.contains("utf8")
    }
}
