import CipherStore
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A shell for a store: statements end with a semicolon, and what goes wrong does not end it.
final class SQLShell {
    private let session: SQLSession
    private let terminal: Terminal
    private let makeWriter: () -> any ResultWriter
    private var splitter = StatementSplitter()

    static let help = """
        .tables           the tables
        .schema [TABLE]   their definitions
        .help             this
        .quit             the end; Ctrl-D too
        Statements end with a semicolon. Ctrl-C stops the one that runs.
        """

    init(session: SQLSession, terminal: Terminal, makeWriter: @escaping () -> any ResultWriter) {
        (self.session, self.terminal, self.makeWriter) = (session, terminal, makeWriter)
    }

    /// Reads and runs statements until the user leaves.
    ///
    /// - throws: ``Failure`` when nothing can be written to the terminal.
    func run() throws {
        let relay = try SignalRelay([SIGINT])
        defer { _ = relay.stop() }
        let input = ShellInput(descriptor: STDIN_FILENO, relay: relay)
        try terminal.writeOutput(
            "\(session.allowsWriting ? "" : "read-only; ")statements end with a semicolon, .help helps")
        while true {
            try terminal.writeOutput(splitter.hasBegun ? "   -> " : "sql> ", terminator: "")
            switch input.next() {
            case .end: return try terminal.writeOutput("")
            case .interrupt:
                splitter.clear()
                try terminal.writeOutput("")
            case .line(let line):
                guard try take(line, { body in try self.stoppable(relay, body) }) else { return }
            }
        }
    }

    /// Takes a line that was typed.
    ///
    /// - parameter stoppable: Runs what the user can stop.
    /// - returns: Whether the shell goes on.
    func take(_ line: String, _ stoppable: (() throws -> Void) throws -> Void) throws -> Bool {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        if let first = words.first, first.hasPrefix("."), !splitter.hasBegun {
            if [".quit", ".exit", ".q"].contains(first) { return false }
            try report { try stoppable { try self.perform(first, Array(words.dropFirst())) } }
            return true
        }
        for statement in splitter.add(line) {
            let isDone = try report {
                try stoppable {
                    let writer = self.makeWriter()
                    try self.session.run(statement, into: writer)
                    try writer.finish()
                }
            }
            // What was typed behind a statement that failed may build on it.
            guard isDone else { break }
        }
        return true
    }

    private func perform(_ command: String, _ arguments: [String]) throws {
        switch command {
        case ".help": try terminal.writeOutput(Self.help)
        case ".tables":
            let names = try session.queue.read { try StoreSchema.names($0) }
            for name in names { try terminal.writeOutput(PrintableText.escaped(name)) }
        case ".schema":
            let objects = try session.queue.read { try StoreSchema.load($0, tables: arguments) }
            for object in objects { try terminal.writeOutput(object.text) }
        default: throw Failure("there is no command \(command)", hints: ["see: .help"])
        }
    }

    /// Reports an error and goes on.
    ///
    /// - returns: Whether there was none.
    @discardableResult
    private func report(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch {
            var failure = Failure(explaining: error)
            if failure.status == .cancelled { failure = Failure("stopped") }
            for line in FailureReporter.lines(failure, style: terminal.errorStyle) {
                terminal.writeError(line)
            }
            return false
        }
    }

    /// Runs a statement that Ctrl-C stops.
    private func stoppable(_ relay: SignalRelay, _ body: () throws -> Void) throws {
        while relay.next() != nil {}
        let watch = StatementWatch(descriptor: relay.descriptor, queue: session.queue)
        defer { watch.stop() }
        try body()
    }
}

/// Stops the statement that runs when a descriptor becomes readable.
private final class StatementWatch: Sendable {
    private let isOver = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    init(descriptor: Int32, queue: DatabaseQueue) {
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            while !isOver.withLock({ $0 }) {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&entry, 1, 20) > 0 else { continue }
                isOver.withLock { if !$0 { queue.interrupt() } }
                return
            }
        }
    }

    /// Nothing is stopped any longer.
    func stop() {
        isOver.withLock { $0 = true }
        ended.wait()
    }
}
