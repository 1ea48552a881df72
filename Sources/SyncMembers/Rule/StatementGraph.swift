/// The statements of a database whose past is complete, in an order that the set alone decides.
struct StatementGraph: Sendable {
    /// Each statement after all that came before it; else by the length of its past's longest path, then by
    /// name.
    private(set) var nodes: [SignedStatement]
    /// The parents of each.
    private(set) var parents: [[Int]]
    /// Those that no other one has as a parent.
    private(set) var heads: [Int]
    /// Statements that wait for others before them, in ascending order.
    let waiting: [StatementID]
    /// What the waiting ones name and nobody has brought yet, in ascending order.
    let missing: [StatementID]

    init(_ statements: [StatementID: SignedStatement]) {
        var children: [StatementID: [StatementID]] = [:]
        var openCounts: [StatementID: Int] = [:]
        for (id, statement) in statements {
            openCounts[id] = statement.statement.parents.count
            for parent in statement.statement.parents { children[parent, default: []].append(id) }
        }
        // Level by level: what a statement is on is one more than the highest level of its parents.
        var order: [StatementID] = []
        var level = statements.values.filter { $0.statement.parents.isEmpty }.map(\.id).sorted()
        while !level.isEmpty {
            order += level
            var next: [StatementID] = []
            for id in level {
                for child in children[id] ?? [] {
                    let open = (openCounts[child] ?? 0) - 1
                    openCounts[child] = open
                    if open == 0 { next.append(child) }
                }
            }
            level = next.sorted()
        }
        var indexes: [StatementID: Int] = [:]
        for (index, id) in order.enumerated() { indexes[id] = index }
        let nodes = order.compactMap { statements[$0] }
        let parents = nodes.map { node in node.statement.parents.compactMap { indexes[$0] } }
        var inner = BitRow()
        for parent in parents.joined() { inner.insert(parent) }
        self.nodes = nodes
        self.parents = parents
        heads = nodes.indices.filter { !inner.contains($0) }
        let waiting = statements.keys.filter { indexes[$0] == nil }.sorted()
        self.waiting = waiting
        var missing: Set<StatementID> = []
        for id in waiting {
            missing.formUnion(statements[id]?.statement.parents.filter { statements[$0] == nil } ?? [])
        }
        self.missing = missing.sorted()
    }

    /// Whether a new statement knows all others, and nothing waits. It is the last one in the order then: no path is longer
    /// than the one that leads to it.
    func ends(with statement: SignedStatement) -> Bool {
        let names = heads.map { nodes[$0].id }
        return !names.isEmpty && waiting.isEmpty && statement.statement.parents == names.sorted()
    }

    /// Puts a statement at the end, which ``ends(with:)`` has found to be its place.
    mutating func append(_ statement: SignedStatement) {
        nodes.append(statement)
        parents.append(heads)
        heads = [nodes.count - 1]
    }
}
