import Synchronization

/// A process that has a store open, and may die while it uses a mailbox.
final class ProcessLife: Sendable {
    private struct State {
        var callsLeft: Int?
        var files: StoreFiles?
        var isOver = false
    }

    private let state = Mutex(State())
    private let path: String

    /// - parameter path: The file of the store.
    init(path: String) { self.path = path }

    /// Lets the process die after so many calls.
    func end(after callCount: Int) { state.withLock { $0.callsLeft = callCount } }

    /// Lets it live.
    ///
    /// - returns: What the disk held when it died; nil when it did not.
    func begin() -> StoreFiles? {
        state.withLock { state in
            defer { state = State() }
            return state.files
        }
    }

    /// Does one more thing, if it lives.
    ///
    /// - throws: ``InjectedFault``.
    func step() throws {
        try state.withLock { state in
            guard !state.isOver else { throw InjectedFault.crash(isLocal: true) }
            guard let left = state.callsLeft else { return }
            state.callsLeft = left - 1
            guard left <= 0 else { return }
            state.isOver = true
            state.files = try StoreFiles(path: path)
            throw InjectedFault.crash(isLocal: true)
        }
    }
}
