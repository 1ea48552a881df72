/// What a statement does to a savepoint.
enum SavepointOperation {
    case begin(String)
    case release(String)
    case rollback(String)
}

/// The open savepoints, and the changes that were made in them.
///
/// A change counts only when no savepoint can undo it any more.
struct SavepointStack {
    /// A change of a row that observers wait for.
    struct Event {
        let route: EventRoute
        let rowID: Int64
    }

    private struct Savepoint {
        let name: String
        /// How many changes there were when it began.
        let start: Int
    }

    private var savepoints: [Savepoint] = []
    private var events: [Event] = []

    /// Whether no savepoint is open.
    var isEmpty: Bool { savepoints.isEmpty }

    /// Adds a change to the innermost savepoint.
    mutating func append(_ route: EventRoute, _ rowID: Int64) {
        events.append(Event(route: route, rowID: rowID))
    }

    /// Follows a statement that was executed.
    ///
    /// - returns: The changes that no savepoint can undo any more.
    mutating func apply(_ operation: SavepointOperation) -> [Event] {
        switch operation {
        case .begin(let name):
            savepoints.append(Savepoint(name: name.foldedIdentifier, start: events.count))
            return []
        case .release(let name):
            // A savepoint from before the first observer is outside of all others.
            savepoints.removeSubrange((index(of: name) ?? 0)...)
            return savepoints.isEmpty ? removeAll() : []
        case .rollback(let name):
            let index = index(of: name)
            let start = index.map { savepoints[$0].start } ?? 0
            events.removeSubrange(min(start, events.count)...)
            savepoints.removeSubrange((index.map { $0 + 1 } ?? 0)...)
            return []
        }
    }

    /// Forgets the savepoints.
    ///
    /// - returns: The changes that were made in them.
    mutating func removeAll() -> [Event] {
        defer {
            savepoints.removeAll()
            events.removeAll()
        }
        return events
    }

    /// The innermost savepoint of a name.
    private func index(of name: String) -> Int? {
        let name = name.foldedIdentifier
        return savepoints.lastIndex { $0.name == name }
    }
}
