/// The subquery that stands for a table of `UPDATE … FROM` where SQLite lacks it.
struct FromSubquery {
    private let source: QueryFragment

    init(_ rows: QueryFragment, _ condition: FragmentList) {
        var fragment = QueryFragment(" FROM ")
        fragment.append(rows)
        condition.write(" WHERE ", to: &fragment)
        source = fragment
    }

    func selecting(_ expression: QueryFragment, inOrder order: QueryFragment = "") -> QueryFragment {
        var fragment = QueryFragment("(SELECT ")
        fragment.append(expression)
        fragment.append(source)
        if !order.isEmpty {
            fragment.append(literal: " ORDER BY ")
            fragment.append(order)
        }
        fragment.append(literal: " LIMIT 1)")
        return fragment
    }
}

/// What the subquery is to give. One gives all values: several might each take another row.
struct JoinedAssignments {
    /// A column and what is assigned to it; several columns, where one expression gives them all.
    private struct Item {
        let names: [String]
        let value: QueryFragment
    }

    private let subquery: FromSubquery
    /// The columns that are assigned to, in this way or another.
    private(set) var columns: [String] = []
    private var items: [Item] = []

    init(_ subquery: FromSubquery) { self.subquery = subquery }

    /// The same without anything assigned.
    var emptied: JoinedAssignments { JoinedAssignments(subquery) }

    /// Adds columns, and the expressions that are assigned to them.
    mutating func append(_ columns: [String], _ expressions: QueryFragment) {
        assign(columns)
        let terms = columns.count > 1 ? expressions.columnTerms : [expressions]
        if terms.count == columns.count {
            items += zip(columns, terms).map { Item(names: [$0], value: $1) }
        } else {
            items.append(Item(names: columns, value: expressions))
        }
    }

    /// Adds those of a group.
    mutating func append(_ other: JoinedAssignments) {
        assign(other.columns)
        items += other.items
    }

    /// Notes that columns are assigned to in another way. The last assignment to a column counts, so others are left out.
    mutating func assign(_ columns: [String]) {
        items.removeAll { item in
            item.names.allSatisfy { name in columns.contains { $0.isSameIdentifier(as: name) } }
        }
        self.columns += columns
    }

    /// Adds the assignment to others.
    func write(to assignments: inout QueryFragment) {
        guard !items.isEmpty else { return }
        assignments.separate()
        guard items.count > 1 || items[0].names.count > 1 else { return writeEach(to: &assignments) }
        assignments.appendChoice(.rowAssignment, native: writeRow, emulated: writeEach)
    }

    private func writeRow(to assignments: inout QueryFragment) {
        assignments.append(literal: "(")
        for (index, name) in items.flatMap(\.names).enumerated() {
            if index > 0 { assignments.append(literal: ", ") }
            assignments.append(identifier: name)
        }
        assignments.append(literal: ") = ")
        var values = QueryFragment()
        for item in items { SelectClauses.join(&values, item.value) }
        assignments.append(subquery.selecting(values))
    }

    /// Adds a subquery for each column. An order by all values makes each take the same row.
    private func writeEach(to assignments: inout QueryFragment) {
        var order = QueryFragment()
        for item in items where items.count > 1 {
            order.separate()
            // An integer alone would be the number of a column.
            order.append(literal: "ifnull((")
            order.append(item.value.withoutNames)
            order.append(literal: "), NULL) COLLATE BINARY")
        }
        for (index, item) in items.enumerated() {
            if index > 0 { assignments.append(literal: ", ") }
            if item.names.count > 1 { assignments.require(.rowAssignmentInTrigger) }
            assignments.append(identifier: item.names[0])
            assignments.append(literal: " = ")
            assignments.append(subquery.selecting(item.value, inOrder: order))
        }
    }
}

extension QueryFragment {
    /// Marks assignments that may take values from a view of the table that is changed.
    mutating func markOwnViews() {
        guard !isEmpty else { return }
        var marked = QueryFragment()
        marked.require(.updateFromOwnView)
        marked.append(self)
        self = marked
    }

    /// Whether columns of a table that is changed are read from rows beside the one that is changed: under another name, or by a
    /// subquery on the table.
    func rereads<Root: Table>(_ columns: [String], of type: Root.Type) -> Bool {
        let names = columns.map { column in
            var name: QueryFragment = "."
            name.append(identifier: column)
            return name.code
        }
        var (sources, read): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
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
            if kind == Code.tableSource { sources.insert(ObjectIdentifier(table)) }
            guard reads else { continue }
            // Without a subquery on the table itself, its own name is that of the row that is changed, and the rows of a trigger
            // stay as they are.
            guard ObjectIdentifier(table) == ObjectIdentifier(type) || table.isRowOfTrigger else {
                return true
            }
            read.insert(ObjectIdentifier(table))
        }
        return !sources.isDisjoint(with: read)
    }
}

extension Table {
    /// Whether the table has the name of a row that a trigger knows.
    fileprivate static var isRowOfTrigger: Bool {
        [NewRowName.aliasName, OldRowName.aliasName].contains(tableAlias)
    }
}
