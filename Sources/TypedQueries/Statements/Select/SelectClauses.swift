/// The clauses of a SELECT statement.
public struct SelectClauses: Hashable, Sendable {
    @usableFromInline var isDistinct = false
    /// Whether there are no rows by declaration.
    @usableFromInline var isNone = false
    /// The common tables before the statement.
    @usableFromInline var commonTables = QueryFragment()
    @usableFromInline var columns = QueryFragment()
    /// What is selected from, where that is no table of the schema.
    @usableFromInline var source = QueryFragment()
    /// The same for engines that take its arguments as a condition only.
    @usableFromInline var conditionalSource: ConditionalSource?
    /// Elements of JSON that are selected from and have no name yet: for each the types by which clauses speak of them.
    @usableFromInline var elements: [QueryFragment] = []
    /// The columns of the joined tables, for when none are selected.
    @usableFromInline var joinedColumns = QueryFragment()
    @usableFromInline var joins = QueryFragment()
    /// Whether rows of a joined table may be absent.
    @usableFromInline var isLeftJoined = false
    @usableFromInline var conditions = FragmentList()
    @usableFromInline var groups = QueryFragment()
    @usableFromInline var groupConditions = FragmentList()
    @usableFromInline var ordering = QueryFragment()
    @usableFromInline var limit = QueryFragment()
    @usableFromInline var offset = QueryFragment()

    @inlinable init() {}

    /// Takes over the conditions and the rest of the clauses of a statement that is joined, or merged.
    mutating func merge(_ other: SelectClauses) {
        isDistinct = isDistinct || other.isDistinct
        isNone = isNone || other.isNone
        isLeftJoined = isLeftJoined || other.isLeftJoined
        elements += other.elements
        conditions.append(other.conditions)
        groupConditions.append(other.groupConditions)
        Self.join(&commonTables, other.commonTables)
        Self.join(&groups, other.groups)
        Self.join(&ordering, other.ordering)
        if limit.isEmpty {
            limit = other.limit
            offset = other.offset
        }
    }

    @usableFromInline static func join(_ list: inout QueryFragment, _ other: QueryFragment) {
        guard !other.isEmpty else { return }
        list.separate()
        list.append(other)
    }

    /// Adds the SELECT statement.
    @usableFromInline func write<From: Table>(from: From.Type, to fragment: inout QueryFragment) {
        if isNone { return }
        guard elements.isEmpty else {
            return namingElements(of: From.self).write(from: From.self, to: &fragment)
        }
        if !commonTables.isEmpty {
            fragment.append(literal: "WITH ")
            fragment.append(commonTables)
            fragment.append(literal: "\n")
        }
        fragment.append(sql: isDistinct ? "SELECT DISTINCT " : "SELECT ")
        if columns.isEmpty {
            fragment.append(columnsOf: From.self)
            if !joinedColumns.isEmpty {
                fragment.append(literal: ", ")
                fragment.append(joinedColumns)
            }
        } else {
            fragment.append(columns)
        }
        if From.self != NoTable.self {
            fragment.append(literal: "\nFROM ")
            writeSource(of: From.self, to: &fragment)
        }
        fragment.append(joins)
        writeConditions(to: &fragment)
        writeGroups(to: &fragment)
        if !ordering.isEmpty {
            fragment.append(literal: "\nORDER BY ")
            fragment.append(ordering)
        }
        guard !limit.isEmpty else { return }
        fragment.append(literal: "\nLIMIT ")
        fragment.append(limit)
        guard !offset.isEmpty else { return }
        fragment.append(literal: " OFFSET ")
        fragment.append(offset)
    }

    /// Adds the table, or what is there instead of one.
    func writeSource<From: Table>(of type: From.Type, to fragment: inout QueryFragment) {
        guard !source.isEmpty else { return fragment.append(sourceOf: From.self) }
        guard let call = conditionOfSource else { return fragment.append(source) }
        fragment.appendChoice(.outerTableArguments) {
            $0.append(source)
        } emulated: {
            $0.append(call.table)
        }
    }

    /// The arguments of what is selected from, where old engines take them as a condition.
    var conditionOfSource: ConditionalSource? {
        conditionalSource.flatMap { $0.isCondition ? $0 : nil }
    }

    private func writeConditions(to fragment: inout QueryFragment) {
        let conditions = isLeftJoined ? conditions.withoutPlannedAlternatives : conditions
        guard let call = conditionOfSource else { return conditions.write("\nWHERE ", to: &fragment) }
        guard conditions.isEmpty else {
            fragment.append(literal: "\nWHERE ")
            return call.write(to: &fragment) { conditions.writeConjunction(to: &$0) }
        }
        fragment.append(onlyWithout: .outerTableArguments) {
            $0.append(literal: "\nWHERE ")
            $0.append(call.condition)
        }
    }

    private func writeGroups(to fragment: inout QueryFragment) {
        if !groups.isEmpty {
            fragment.append(literal: "\nGROUP BY ")
            fragment.append(groups)
        }
        groupConditions.write("\nHAVING ", to: &fragment)
    }
}
