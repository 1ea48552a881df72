import Dispatch

/// Looks again and again whether somebody has committed to a file: soon after something was written to it, and
/// now and then in any case.
///
/// It needs no thread while nothing happens. ``WatchPacing`` says when to look, ``FileEvents`` what happened.
///
/// It is `@unchecked Sendable` because all of its state is touched on `queue` only.
package final class CommitWatch: @unchecked Sendable {
    /// What came of a look.
    package enum Finding: Sendable {
        /// Nobody has committed since the look before.
        case nothing
        /// Somebody has.
        case commit
    }

    /// Looks, and calls a function when it knows, from any thread.
    package typealias Look = @Sendable (_ completion: @escaping @Sendable (Finding) -> Void) -> Void

    private let path: String
    private let look: Look
    private let queue = DispatchQueue(label: "CipherStore.CommitWatch", qos: .utility)
    private var events: FileEvents?
    private var pacing = WatchPacing(hasEvents: false)
    private var isStarted = false
    private var isLooking = false

    /// Whether to look again at once, and whether an event came since the last look began.
    private var looksAgain = false
    private var hadEvent = false

    /// Which timer counts: an older one has nothing to say.
    private var timer = 0

    /// - parameters:
    ///     - path: The database file.
    ///     - look: Looks. One look is over before the next begins.
    package init(path: String, look: @escaping Look) {
        self.path = path
        self.look = look
    }

    /// Begins to look.
    package func start() {
        queue.async { [self] in
            guard !isStarted else { return }
            isStarted = true
            events = FileEvents(path: path, queue: queue) { [weak self] in self?.eventArrived() }
            pacing = WatchPacing(hasEvents: events != nil)
            tick()
        }
    }

    /// Ends it: a look that is under way goes on to its end. It may be started again.
    package func stop() {
        queue.async { [self] in
            isStarted = false
            timer += 1
            events = nil
        }
    }

    /// Looks at once.
    package func lookNow() { queue.async { [self] in tick() } }

    private func eventArrived() {
        guard isStarted else { return }
        hadEvent = true
        // From here on it looks often enough without being told.
        events?.pause()
        tick()
    }

    private func tick() {
        guard isStarted else { return }
        guard !isLooking else {
            looksAgain = true
            return
        }
        isLooking = true
        timer += 1
        look { [weak self] finding in
            guard let self else { return }
            queue.async { self.finish(finding) }
        }
    }

    private func finish(_ finding: Finding) {
        isLooking = false
        guard isStarted else { return }
        if looksAgain {
            looksAgain = false
            // What this look found is not known to the next one, and is as good as an event.
            if finding == .commit { hadEvent = true }
            return tick()
        }
        var pause = pacing.next(after: .init(hadEvent: hadEvent, foundCommit: finding == .commit))
        hadEvent = false
        if pacing.waitsForEvents {
            // Something may have happened since the look, before there were events.
            if events?.isOn == false { pause = WatchPacing.pauseMin }
            if events?.resume() != true {
                events = nil
                pacing = WatchPacing(hasEvents: false)
            }
        } else {
            events?.pause()
        }
        let timer = timer
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
            guard let self, timer == self.timer else { return }
            tick()
        }
    }
}
