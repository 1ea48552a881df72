/// A change taken apart, on engines on which RETURNING or upserts are emulated.
struct ChangeParts {
    /// Common tables before it.
    var commonTables = QueryFragment()
    /// The statement up to its rows or its condition.
    var head = QueryFragment()
    /// The rows of values, each between parentheses.
    var rows: [QueryFragment] = []
    /// The SELECT that is inserted.
    var select: QueryFragment?
    /// Whether a row of default values is inserted.
    var insertsDefaults = false
    var isInsert = false
    var isDelete = false
    var condition = QueryFragment()
    var conflictTarget = QueryFragment()
    /// The condition of a partial index.
    var targetCondition = QueryFragment()
    var doesNothing = false
    var assignments: QueryFragment?
    var updateCondition = QueryFragment()
    var returned = QueryFragment()
    var table: (any Table.Type)?

    /// Whether the statement says what becomes of rows in the way.
    var hasConflictClause: Bool { doesNothing || assignments != nil }

    /// Whether what was done before a violation stays: the policy `FAIL`.
    var stopsAtViolation: Bool {
        let beginning = head.code.prefix { $0 != QueryFragment.Code.tableSource }
        let text = String(decoding: beginning, as: UTF8.self)
        return text == "INSERT OR FAIL INTO " || text == "UPDATE OR FAIL "
    }

    /// Takes a statement apart that is marked as a change; nil when nothing of it needs that.
    init?(_ fragment: QueryFragment) {
        for (part, content) in fragment.withFormsOfEngine.parts { add(part, content) }
        guard hasConflictClause || !returned.isEmpty else { return nil }
    }

    private mutating func add(_ part: FragmentPart, _ content: QueryFragment) {
        switch part {
        case .commonTables: commonTables = content
        case .insertTarget:
            head = content
            isInsert = true
            table = content.firstTable
        case .updateTarget:
            head = content
            table = content.firstTable
        case .deleteTarget:
            head = content
            isDelete = true
            table = content.firstTable
        case .rows, .glue: break
        case .conflictTargetCondition: targetCondition = content
        case .row: rows.append(content.withoutSeparator)
        case .insertedSelect: select = content
        case .defaultValues: insertsDefaults = true
        case .changeCondition: condition = content
        case .conflictTarget: conflictTarget = content
        case .doNothing: doesNothing = true
        case .doUpdate: assignments = content
        case .doUpdateCondition: updateCondition = content
        case .returning: returned = content
        }
    }
}

extension QueryFragment {
    /// The pieces between the marks.
    fileprivate var parts: [(FragmentPart, QueryFragment)] {
        var parts: [(FragmentPart, QueryFragment)] = []
        var current: FragmentPart?
        var content = QueryFragment()
        var value = 0
        var index = 0
        while index < code.count {
            let byte = code[index]
            if byte == Code.part, let part = FragmentPart(rawValue: code[index + 1]) {
                if let current { parts.append((current, content)) }
                current = part
                content = QueryFragment()
                index += 2
                continue
            }
            let length = Code.length(byte)
            content.code.append(contentsOf: code[index..<index + length])
            if byte == Code.parameter {
                content.bindings.append(bindings[value])
                value += 1
            }
            index += length
        }
        if let current { parts.append((current, content)) }
        return parts
    }

    /// The first table that is named as a source.
    fileprivate var firstTable: (any Table.Type)? {
        var index = 0
        while index < code.count {
            if code[index] == Code.tableSource { return Self.table(at: code[index + 1..<index + 9]) }
            index += Code.length(code[index])
        }
        return nil
    }

    /// A row without the comma that separates it from the next.
    fileprivate var withoutSeparator: QueryFragment {
        var row = self
        while let last = row.code.last, last != UInt8(ascii: ")") { row.code.removeLast() }
        return row
    }
}
