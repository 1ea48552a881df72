import Synchronization

/// A progress line on stderr that is safe to update from any thread.
///
/// It is drawn at most ten times a second, and only where `Terminal.showsLiveLine` allows it;
/// everywhere else an update costs next to nothing. The last line stays on the screen.
final class ProgressLine: Sendable {
    private struct State {
        var text: ProgressText
        var started: ContinuousClock.Instant
        var lastDrawn: ContinuousClock.Instant?
        /// Amounts at past drawings, for the rate of the last seconds.
        var samples: [(instant: ContinuousClock.Instant, completed: Int)]
    }

    private static let drawingInterval: Duration = .milliseconds(100)
    /// Long enough for a calm number, short enough to follow a change of pace.
    private static let rateWindow: Duration = .seconds(5)

    private let terminal: Terminal
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// Creates a line that starts to count time now and is drawn at the first update.
    ///
    /// - Parameters:
    ///   - label: What is going on, in one word: `pull`. Empty for none.
    ///   - now: The clock.
    init(
        _ label: String = "", unit: ProgressUnit = .items("rows"), terminal: Terminal,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.terminal = terminal
        self.now = now
        let started = now()
        state = Mutex(
            State(
                text: ProgressText(label: label, unit: unit), started: started,
                samples: [(started, 0)]))
    }

    /// Sets how much is done. A total or a number of bytes that is not given stays as it was.
    func update(completed: Int, total: Int? = nil, bytes: Int? = nil) {
        change { text in
            text.completed = completed
            text.total = total ?? text.total
            text.bytes = bytes ?? text.bytes
        }
    }

    /// Adds to what is done.
    func advance(by amount: Int = 1, bytes: Int = 0) {
        change { text in
            text.completed += amount
            if bytes > 0 { text.bytes = (text.bytes ?? 0) + bytes }
        }
    }

    /// Draws the final line, with the rate of the whole time, and leaves it on the screen.
    ///
    /// Does nothing if nothing was ever shown or if the line has ended already. The screen is
    /// written under the lock, so that a late update cannot draw below the final line.
    func finish() {
        state.withLock { state in
            guard !state.text.isFinished else { return }
            state.text.isFinished = true
            guard state.lastDrawn != nil else { return }
            let elapsed = state.started.duration(to: now())
            state.text.elapsed = elapsed
            state.text.rate = Self.rate(state.text.completed, in: elapsed)
            draw(state.text)
            terminal.endLiveLine()
        }
    }

    // MARK: - Private

    private func change(_ body: (inout ProgressText) -> Void) {
        guard terminal.showsLiveLine else { return }
        state.withLock { state in
            guard !state.text.isFinished else { return }
            body(&state.text)
            let instant = now()
            if let last = state.lastDrawn, last.duration(to: instant) < Self.drawingInterval { return }
            state.lastDrawn = instant
            Self.measure(&state, at: instant)
            draw(state.text)
        }
    }

    /// Takes a sample, forgets those before the window, and sets the time and the rate.
    private static func measure(_ state: inout State, at instant: ContinuousClock.Instant) {
        state.text.elapsed = state.started.duration(to: instant)
        state.samples.append((instant, state.text.completed))
        // The oldest sample that stays is the last one outside of the window, if there is one.
        while state.samples.count > 2, state.samples[1].instant.duration(to: instant) >= rateWindow {
            state.samples.removeFirst()
        }
        let oldest = state.samples[0]
        state.text.rate = rate(
            state.text.completed - oldest.completed, in: oldest.instant.duration(to: instant))
    }

    /// An amount by second; nothing before a tenth of a second has passed.
    private static func rate(_ amount: Int, in duration: Duration) -> Double? {
        let seconds = duration / Duration.seconds(1)
        return seconds < 0.1 ? nil : Double(max(0, amount)) / seconds
    }

    /// One column stays free, for many terminals wrap a line that fills the last one.
    private func draw(_ text: ProgressText) {
        terminal.showLiveLine(
            text.line(
                width: terminal.width - 1, style: terminal.errorStyle, usesUnicode: terminal.usesUnicode))
    }
}
