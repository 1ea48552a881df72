/// The collations and pure functions of the app that a connection has: what indexes, checks and generated columns of its
/// database may need.
///
/// A copy of the database is opened by a connection of its own, which is no app's: it gets them from here.
struct SchemaDefinitions: Sendable {
    private(set) var collations: [DatabaseCollation] = []
    private var functions: [DatabaseFunction] = []

    mutating func note(_ collation: DatabaseCollation) {
        forget(collation)
        collations.append(collation)
    }

    mutating func forget(_ collation: DatabaseCollation) { collations.removeAll { $0 == collation } }

    mutating func note(_ function: DatabaseFunction) {
        forget(function)
        // Another one may do something, or tell something, and has no place in an index.
        if function.isPure { functions.append(function) }
    }

    mutating func forget(_ function: DatabaseFunction) { functions.removeAll { $0 == function } }

    /// Gives a connection all of them.
    func add(to db: Database) {
        for collation in collations { db.add(collation: collation) }
        for function in functions { db.add(function: function) }
    }
}
