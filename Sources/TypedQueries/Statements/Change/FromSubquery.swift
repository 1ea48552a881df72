/// The subquery that stands for a table of `UPDATE … FROM` where SQLite lacks it.
struct FromSubquery {
    private let source: QueryFragment

    init(_ rows: QueryFragment, _ condition: FragmentList) {
        var fragment = QueryFragment(" FROM ")
        fragment.append(rows)
        condition.write(" WHERE ", to: &fragment)
        fragment.append(literal: " LIMIT 1)")
        source = fragment
    }

    func selecting(_ expression: QueryFragment) -> QueryFragment {
        var fragment = QueryFragment("(SELECT ")
        fragment.append(expression)
        fragment.append(source)
        return fragment
    }
}

/// What the subquery is to give. One gives all values: several might each take another row.
struct JoinedAssignments {
    private let subquery: FromSubquery
    /// The columns that are assigned to, in this way or another.
    private(set) var columns: [String] = []
    private var names: [String] = []
    private var values = QueryFragment()

    init(_ subquery: FromSubquery) { self.subquery = subquery }

    /// The same without anything assigned.
    var emptied: JoinedAssignments { JoinedAssignments(subquery) }

    /// Adds columns, and the expressions that are assigned to them.
    mutating func append(_ columns: [String], _ expressions: QueryFragment) {
        self.columns += columns
        names += columns
        SelectClauses.join(&values, expressions)
    }

    /// Adds those of a group.
    mutating func append(_ other: JoinedAssignments) {
        columns += other.columns
        names += other.names
        SelectClauses.join(&values, other.values)
    }

    /// Notes that columns are assigned to in another way. It counts if it is the last for a column, so what came before is written.
    mutating func assign(_ columns: [String], in assignments: inout QueryFragment) {
        if columns.contains(where: names.contains) { write(to: &assignments) }
        self.columns += columns
    }

    /// Adds the assignment to others.
    mutating func write(to assignments: inout QueryFragment) {
        guard !names.isEmpty else { return }
        assignments.separate()
        if names.count > 1 { assignments.append(literal: "(") }
        for (index, name) in names.enumerated() {
            if index > 0 { assignments.append(literal: ", ") }
            assignments.append(identifier: name)
        }
        assignments.append(sql: names.count > 1 ? ") = " : " = ")
        assignments.append(subquery.selecting(values))
        names = []
        values = QueryFragment()
    }
}

extension QueryFragment {
    /// Whether columns of a table that is changed are read from rows beside the one that is changed: under another name, or by a
    /// subquery on the table.
    func rereads<Root: Table>(_ columns: [String], of type: Root.Type) -> Bool {
        let names = columns.map { column in
            var name: QueryFragment = "."
            name.append(identifier: column)
            return name.code
        }
        var (isSource, isRead) = (false, false)
        var index = 0
        while index < code.count {
            let (kind, start) = (code[index], index)
            index += Code.length(kind)
            guard index == start + 9, let table = Self.table(at: code[start + 1..<index]),
                table.tableName.isSameIdentifier(as: Root.tableName)
            else { continue }
            let rest = code[index...]
            let reads =
                kind == Code.columns || kind == Code.names
                || kind == Code.tableName && names.contains { rest.starts(with: $0) }
            guard ObjectIdentifier(table) == ObjectIdentifier(type) else {
                if reads { return true }
                continue
            }
            isSource = isSource || kind == Code.tableSource
            isRead = isRead || reads
        }
        // Without a subquery on the table itself, its own name is that of the row that is changed.
        return isSource && isRead
    }
}
