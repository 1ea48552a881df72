/// Finds the rows that others belong to, by the foreign keys of these.
///
/// SQLite compares keys by the collation and the type of a column, so that a foreign key can belong to rows from whose keys it differs.
/// One that is written as one of the keys belongs to the row of this key alone, also where others equal it: most foreign keys are written
/// so, and none of them needs a query.
package struct KeyOwners {
    /// The rows that one belongs to, by the positions of their keys.
    package enum Owners {
        case none
        case one(Int)
        case several([Int])
    }

    /// The keys of the rows that others belong to, each of them once and none NULL.
    package let keys: [[DatabaseValue]]

    /// Whether the rows come from several queries.
    package var areOfSeveralQueries = false

    private let plan: Prefetch
    private let positions: [[DatabaseValue]: Int]
    /// The rows that belong to keys from which theirs differ; nil while nobody has asked.
    private var parents: [[DatabaseValue]: Set<Int>]?
    /// The keys of the rows of this query.
    private var found: Set<[DatabaseValue]> = []
    /// The keys of the rows of former queries. A key that equals several can be found by several queries, each of which
    /// finds all its rows.
    private var earlier: Set<[DatabaseValue]> = []

    /// - parameters:
    ///     - keys: The keys of the rows that others belong to.
    ///     - plan: What is fetched.
    init(keys: [[DatabaseValue]], of plan: Prefetch) {
        self.plan = plan
        var positions: [[DatabaseValue]: Int] = [:]
        var distinct: [[DatabaseValue]] = []
        for key in keys where !key.contains(where: \.isNull) && positions[key] == nil {
            positions[key] = distinct.count
            distinct.append(key)
        }
        self.keys = distinct
        self.positions = positions
    }

    /// The position of a row's key; nil for NULL, to which nothing belongs.
    package func position(of key: [DatabaseValue]) -> Int? { positions[key] }

    /// Finds out which rows one belongs to.
    ///
    /// - parameter foreignKey: What the row refers to.
    /// - returns: The row whose key is the same, before those whose keys SQLite takes for equal. None also for a row that a former
    ///   query has found already.
    /// - throws: A ``DatabaseError``.
    package mutating func owners(of foreignKey: [DatabaseValue], _ db: Database) throws -> Owners {
        if areOfSeveralQueries { found.insert(foreignKey) }
        if !earlier.isEmpty, earlier.contains(foreignKey) { return .none }
        if let position = positions[foreignKey] { return .one(position) }
        // It differs from the keys that SQLite takes it for.
        let known = try parents ?? plan.parents(among: keys, db)
        parents = known
        return .several((known[foreignKey] ?? []).sorted())
    }

    /// Notes that all rows of a query were dealt out.
    package mutating func endQuery() {
        earlier.formUnion(found)
        found = []
    }
}
