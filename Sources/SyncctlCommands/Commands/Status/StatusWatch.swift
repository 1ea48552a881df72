import CipherStore
import Foundation

/// Shows how a store stands, again after each change, until Ctrl-C.
struct StatusWatch {
    let context: CommandContext
    let queue: DatabaseQueue

    /// Whether what is shown takes the place of what was shown before.
    private var isScreen: Bool { context.terminal.outputIsTerminal && !context.global.isJSON }

    /// Runs until the user cancels.
    ///
    /// - parameters:
    ///     - document: What a program is told.
    ///     - text: What a person is told.
    func run<Document: Encodable>(
        document: (StoreStanding) -> Document, text: (StoreStanding) -> String
    ) throws -> ExitStatus {
        let screen = StatusScreen(terminal: context.terminal)
        defer { if isScreen { try? screen.leave() } }
        var rates = ChangeRates()
        var pause = 1
        var standing = try StoreStanding(queue)
        var version: Int64?
        repeat {
            // It counts the commits of others; this connection makes none.
            let current = try queue.read { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
            let isNew = current != version
            if isNew {
                version = current
                let start = ContinuousClock.now
                standing = try StoreStanding(queue)
                // Rows are counted: a large store is not read all the time.
                pause = max(1, Int(4 * ((ContinuousClock.now - start) / .seconds(1))))
            }
            rates.add(standing, at: .now)
            if isScreen {
                // Times grow older without a change.
                try screen.show(text(standing) + "\n" + rates.text)
            } else if isNew {
                try context.print(document(standing), text: Repetition.stamped(text(standing)))
            }
        } while !Interruption.wait(seconds: pause)
        if isScreen {
            // What was seen last stays to be read.
            try screen.leave()
            try context.terminal.writeOutput(text(standing))
        }
        return .success
    }
}

/// How many changes there were in the last seconds.
struct ChangeRates {
    private static let window = Duration.seconds(10)

    private struct Sample {
        let time: ContinuousClock.Instant
        let written: Int64
        let received: Int64
    }

    private var samples: [Sample] = []

    /// Notes how many changes there are.
    mutating func add(_ standing: StoreStanding, at time: ContinuousClock.Instant) {
        add(written: standing.writtenCount, received: standing.receivedCount, at: time)
    }

    mutating func add(written: Int64, received: Int64, at time: ContinuousClock.Instant) {
        samples.append(Sample(time: time, written: written, received: received))
        // The newest of the old ones stays: it is where the window begins.
        while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
    }

    /// The changes a second, made here and by others.
    var perSecond: (written: Double, received: Double) {
        guard let first = samples.first, let last = samples.last, last.time > first.time else {
            return (0, 0)
        }
        let seconds = (last.time - first.time) / .seconds(1)
        func rate(_ change: (Sample) -> Int64) -> Double {
            max(0, Double(change(last)) - Double(change(first))) / seconds
        }
        return (rate { $0.written }, rate { $0.received })
    }

    /// A line that says how many.
    var text: String {
        let (written, received) = perSecond
        return "changes a second: \(Self.text(written)) made here, \(Self.text(received)) received"
    }

    private static func text(_ rate: Double) -> String {
        rate < 10 ? String(format: "%.1f", rate) : HumanFormat.count(Int(min(rate, 1e15).rounded()))
    }
}

/// A terminal's screen of its own, whose content is replaced.
final class StatusScreen {
    private let terminal: Terminal
    private var isEntered = false

    init(terminal: Terminal) { self.terminal = terminal }

    /// Shows text in place of what was there. What doesn't fit is left out.
    func show(_ text: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let height = terminal.height
        // The cursor stands on a line below.
        let room = height - 1
        let shown =
            lines.count <= room ? lines : lines.prefix(room - 1) + ["… \(lines.count - room + 1) more lines"]
        // Long lines are cut by the terminal: to wrap them would move those below out of place.
        let body = shown.map { "\u{1B}[2K" + $0 }.joined(separator: "\n")
        let start = isEntered ? "" : "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
        isEntered = true
        // A second Ctrl-C ends the process at once, and must not leave the terminal so.
        Interruption.restoresScreen(of: terminal.outputDescriptor)
        try terminal.writeOutput(start + "\u{1B}[H" + body + "\n\u{1B}[J", terminator: "")
    }

    /// Brings back what was on the screen before.
    func leave() throws {
        guard isEntered else { return }
        isEntered = false
        Interruption.restoresScreen(of: nil)
        try terminal.writeOutput("\(Interruption.screenEnd)", terminator: "")
    }
}
