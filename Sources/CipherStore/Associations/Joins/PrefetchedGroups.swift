/// The rows of an association, dealt out to the rows that they belong to.
struct PrefetchedGroups {
    /// Which rows belong to which keys.
    private var owners: KeyOwners
    private let plan: Prefetch

    /// The rows of each key.
    private var members: [[AssociatedRowList]]
    /// The rows in the order in which they came, by queries.
    private(set) var lists: [AssociatedRowList] = []

    /// The keys of the rows that others belong to, each of them once and none NULL.
    var keys: [[DatabaseValue]] { owners.keys }

    /// Whether the rows come from several queries.
    var areOfSeveralQueries: Bool {
        get { owners.areOfSeveralQueries }
        set { owners.areOfSeveralQueries = newValue }
    }

    /// - parameters:
    ///     - keys: The keys of the rows that others belong to.
    ///     - plan: What is fetched.
    init(keys: [[DatabaseValue]], of plan: Prefetch) {
        self.plan = plan
        owners = KeyOwners(keys: keys, of: plan)
        members = Array(repeating: [], count: owners.keys.count)
    }

    /// The rows that belong to the row of a key.
    func rows(of key: [DatabaseValue]) -> AssociatedRowList {
        AssociatedRowList(owners.position(of: key).map { members[$0] } ?? [])
    }

    /// Deals out the rows of a query that have scopes, or rows of their own.
    ///
    /// - throws: A ``DatabaseError``.
    mutating func add(_ rows: [Row], _ db: Database) throws {
        let foreignKeys = try rows.map { row in
            try plan.columns.map { column -> DatabaseValue in
                try row.decode(forColumn: Prefetch.keyName(column.right))
            }
        }
        let dealt = try deal(
            rows.count, db, key: { foreignKeys[$0] }, isAsBefore: { foreignKeys[$0] == foreignKeys[$0 - 1] })
        for (group, places) in dealt { members[group].append(.rows(places.map { rows[$0] })) }
        lists.append(.rows(rows))
    }

    /// Deals out the rows of a query.
    ///
    /// - throws: A ``DatabaseError``.
    mutating func add(_ block: RowBlock, _ db: Database) throws {
        let positions = try plan.columns.map { try block.requirePosition(of: Prefetch.keyName($0.right)) }
        let dealt = try deal(
            block.count, db,
            key: { row in positions.map { block.value(of: row, at: $0) } },
            isAsBefore: { row in
                positions.allSatisfy { block.value(of: row, at: $0) == block.value(of: row - 1, at: $0) }
            })
        for (group, places) in dealt { members[group].append(.places(places, block)) }
        lists.append(.places(Array(0..<block.count), block))
    }

    /// Finds out which rows belong to which keys.
    ///
    /// - parameters:
    ///     - count: The number of rows.
    ///     - key: Returns the foreign key of a row.
    ///     - isAsBefore: Returns whether a row has the foreign key of the row before it, as most have.
    /// - returns: The positions of the rows, by that of their key. A query has a part of the keys only.
    private mutating func deal(
        _ count: Int, _ db: Database, key: (Int) -> [DatabaseValue], isAsBefore: (Int) -> Bool
    ) throws -> [(group: Int, places: [Int])] {
        var dealt: [(group: Int, places: [Int])] = []
        var positions: [Int: Int] = [:]
        func deal(_ row: Int, to group: Int) {
            // Most rows come after one of the same group.
            if let last = dealt.indices.last, dealt[last].group == group {
                dealt[last].places.append(row)
            } else if let position = positions[group] {
                dealt[position].places.append(row)
            } else {
                positions[group] = dealt.count
                dealt.append((group, [row]))
            }
        }
        var current = KeyOwners.Owners.none
        for row in 0..<count {
            if row == 0 || !isAsBefore(row) { current = try owners.owners(of: key(row), db) }
            switch current {
            case .none: break
            case .one(let owner): deal(row, to: owner)
            case .several(let others): for owner in others { deal(row, to: owner) }
            }
        }
        owners.endQuery()
        return dealt
    }
}
