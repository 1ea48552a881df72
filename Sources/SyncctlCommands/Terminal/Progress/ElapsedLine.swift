import Foundation
import Synchronization

/// A live line for work of which nobody knows how far it is: it says what is done, and for how long.
final class ElapsedLine: Sendable {
    private static let microseconds: UInt32 = 250_000

    private let line: ProgressLine
    private let isOver = Atomic<Bool>(false)

    /// Begins to show the line, on a thread of its own, where one can be shown.
    ///
    /// - parameter label: What is done, in one word: `comparing`.
    init(_ label: String, terminal: Terminal) {
        line = ProgressLine(label, unit: .time, terminal: terminal)
        guard terminal.showsLiveLine else { return }
        Thread.detachNewThread { [self] in
            while true {
                usleep(Self.microseconds)
                // A line that has ended takes no update.
                if isOver.load(ordering: .relaxed) { return }
                line.update(completed: 0)
            }
        }
    }

    /// Ends the line.
    func finish() {
        isOver.store(true, ordering: .relaxed)
        line.finish()
    }
}
