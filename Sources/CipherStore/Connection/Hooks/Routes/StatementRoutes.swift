/// What the authorizer has told about a statement.
struct StatementEffects {
    /// The columns that it updates, by table.
    var updates: [String: Set<String>] = [:]

    /// What it does to savepoints.
    var savepoint: SavepointOperation?

    var isEmpty: Bool { updates.isEmpty && savepoint == nil }

    mutating func formUnion(_ other: StatementEffects) {
        updates.merge(other.updates) { $0.union($1) }
        savepoint = other.savepoint ?? savepoint
    }
}

/// The effects of a statement, and where its updates go.
final class StatementRoutes {
    var effects: StatementEffects
    var routes: [EventRoute] = []

    /// The set of observers that the routes are for.
    var generation = 0

    init(_ effects: StatementEffects) { self.effects = effects }
}
