// `json_each` among the elements of another one, which SQLite calls by the same name.

extension SelectClauses {
    /// The clauses with a name of their own for the elements of JSON that are selected from, where they speak of other
    /// elements too; nil where they don't.
    ///
    /// Where both have one name, SQLite takes it for the inner ones, even in the argument that these are made of.
    func namingElements<From: Table>(of type: From.Type) -> SelectClauses? {
        guard let conditionalSource, !conditionalSource.isNamed else { return nil }
        var pieces: [QueryFragment] = [columns, joins, groups, ordering, limit, offset]
        pieces += conditions.pieces
        pieces += groupConditions.pieces
        let own = Set(ownTypes(type).map { ObjectIdentifier($0) })
        let isAmongOthers =
            source.mentionsElements() || pieces.contains { $0.mentionsElements(besides: own) }
        guard isAmongOthers else { return nil }
        // The statements within this one have been written, and have names already.
        var number = 2
        while pieces.contains(where: { $0.contains(identifier: "json_each_\(number)") }) { number += 1 }
        return naming(type, "json_each_\(number)")
    }

    /// The types by which clauses speak of the elements that are selected from: in a right join, their rows may be absent, and are not
    /// yet so in its condition. Elsewhere, elements that may be absent are others.
    private func ownTypes<From: Table>(_ type: From.Type) -> [any Table.Type] {
        guard conditionalSource?.isCondition == false,
            let present = (type as? any OptionalTable.Type)?.presentTable
        else { return [type] }
        return [type, present]
    }

    /// The clauses with another name for what is selected from, except in its arguments.
    private func naming<From: Table>(_ type: From.Type, _ name: String) -> SelectClauses {
        var result = self
        result.conditionalSource = conditionalSource?.named(name)
        result.source.append(literal: " AS ")
        result.source.append(identifier: name)
        if columns.isEmpty {
            result.columns.append(columnsOf: type)
            Self.join(&result.columns, joinedColumns)
        }
        func qualified(_ piece: QueryFragment) -> QueryFragment {
            ownTypes(type).reduce(piece) { $0.qualified($1, by: name) }
        }
        result.columns = qualified(result.columns)
        result.joins = qualified(joins)
        result.conditions = conditions.mapped { qualified($0) }
        result.groups = qualified(groups)
        result.groupConditions = groupConditions.mapped { qualified($0) }
        result.ordering = qualified(ordering)
        result.limit = qualified(limit)
        result.offset = qualified(offset)
        return result
    }
}

extension QueryBindingError {
    /// What is wrong with elements of JSON that are joined and made of other elements.
    static var joinedElements: QueryBindingError {
        QueryBindingError(
            """
            elements of JSON can't be joined to those that they are made of, because SQLite calls both json_each: put the \
            inner ones into a condition, such as .exists()
            """)
    }
}

extension QueryFragment {
    /// Whether the piece speaks of elements of JSON.
    ///
    /// - parameter own: The types of elements that don't count.
    func mentionsElements(besides own: Set<ObjectIdentifier> = []) -> Bool {
        var index = 0
        while index < code.count {
            let length = Code.length(code[index])
            if length == 9, let table = Self.table(at: code[index + 1..<index + 9]),
                table.tableName == "json_each", table.tableAlias == nil,
                !own.contains(ObjectIdentifier(table))
            {
                return true
            }
            index += length
        }
        return false
    }

    /// Whether a quoted name is in the text.
    fileprivate func contains(identifier name: String) -> Bool {
        let bytes = Array("\"\(name)\"".utf8)
        return code.indices.contains { code[$0...].starts(with: bytes) }
    }
}
