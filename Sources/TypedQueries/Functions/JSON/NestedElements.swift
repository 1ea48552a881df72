// The names of `json_each` beside and among the elements of another one: SQLite calls all of them by the same name.

extension SelectClauses {
    /// The clauses with a name for each `json_each` that is selected from, which is its own unless it is the first and the statement
    /// speaks of none around it.
    ///
    /// Where two have one name, SQLite takes it for the inner one, even in the argument that this is made of.
    func namingElements<From: Table>(of type: From.Type) -> SelectClauses {
        var result = self
        result.elements = []
        if columns.isEmpty {
            result.columns.append(columnsOf: type)
            Self.join(&result.columns, joinedColumns)
        }
        var pieces: [QueryFragment] = [result.columns, joins, groups, ordering, limit, offset]
        pieces += conditions.pieces
        pieces += groupConditions.pieces
        let own = Set(elements.flatMap(\.referredTables).map { ObjectIdentifier($0) })
        // The statements within this one have been written, and speak of what is theirs by names.
        let isAmongOthers =
            source.mentionsElements() || pieces.contains { $0.mentionsElements(besides: own) }
        var number = 1
        var names: [ElementName] = []
        for (index, types) in elements.enumerated() {
            var name = "json_each"
            if index > 0 || isAmongOthers {
                repeat {
                    number += 1
                    name = "json_each_\(number)"
                } while pieces.contains(where: { $0.contains(identifier: name) })
            }
            names += types.referredTables.map { ElementName(type: $0, name: name) }
        }
        result.name(names)
        return result
    }

    /// Puts names in the place of references to types, except in the arguments of what is selected from.
    private mutating func name(_ names: [ElementName]) {
        func qualified(_ piece: QueryFragment) -> QueryFragment {
            names.reduce(piece) { $0.qualified($1.type, by: $1.name) }
        }
        source = names.reduce(source) { $0.naming($1.type, $1.name) }
        conditionalSource?.rename(qualified)
        columns = qualified(columns)
        joins = qualified(joins)
        conditions = conditions.mapped(qualified)
        groups = qualified(groups)
        groupConditions = groupConditions.mapped(qualified)
        ordering = qualified(ordering)
        limit = qualified(limit)
        offset = qualified(offset)
    }

    /// The clauses of elements with a type of their own for those that are selected from, which has a name.
    func naming<From: Table, Name: Table>(_ type: From.Type, as alias: Name.Type) -> SelectClauses {
        func renamed(_ piece: QueryFragment) -> QueryFragment { piece.retargeted(type, to: alias) }
        var result = self
        result.elements = []
        result.source = source.naming(type, alias.tableAlias ?? alias.tableName)
        result.conditionalSource?.rename {
            renamed($0.naming(type, alias.tableAlias ?? alias.tableName))
        }
        result.conditions = conditions.mapped(renamed)
        result.groups = renamed(groups)
        result.groupConditions = groupConditions.mapped(renamed)
        result.ordering = renamed(ordering)
        result.limit = renamed(limit)
        result.offset = renamed(offset)
        return result
    }

    /// Whether elements that are joined can't be told from those that the statement has, or from those that they are made of.
    func hasElements(like joined: SelectClauses) -> Bool {
        guard !joined.elements.isEmpty else { return false }
        let others =
            elements.flatMap(\.referredTables)
            + joined.source.referredTables.filter { $0.tableName == "json_each" && $0.tableAlias == nil }
        let known = Set(others.map { ObjectIdentifier($0.withoutAbsence) })
        return joined.elements.flatMap(\.referredTables)
            .contains { known.contains(ObjectIdentifier($0.withoutAbsence)) }
    }

    /// Notes that rows of what is selected from may be absent.
    mutating func makeElementsOptional() {
        elements = elements.map { types in
            var both = types
            for table in types.referredTables { both.append(optionalElementsOf: table) }
            return both
        }
    }
}

/// A name of elements, by one of the types by which clauses speak of them: in an outer join those of rows that may be absent are others.
private struct ElementName {
    let type: any Table.Type
    let name: String
}

extension QueryBindingError {
    /// What is wrong with elements of JSON that are joined to others of their type.
    static var joinedElements: QueryBindingError {
        QueryBindingError(
            """
            elements of JSON that are joined to others of the same type, or made of such, can't be told from them: give them a \
            name, as in .jsonEach().as(Part.self), or put the inner ones into a condition, such as .exists()
            """)
    }
}

extension QueryFragment {
    /// The place of a name of elements, which is no text until they are named.
    static func elements<T: Table>(_ type: T.Type) -> QueryFragment {
        var fragment = QueryFragment()
        fragment.append(Code.elements, type)
        return fragment
    }

    fileprivate mutating func append<T: Table>(optionalElementsOf type: T.Type) {
        append(Code.elements, T?.self)
    }

    /// Whether the piece speaks of elements of JSON.
    ///
    /// - parameter own: The types of elements that don't count.
    func mentionsElements(besides own: Set<ObjectIdentifier> = []) -> Bool {
        var index = 0
        while index < code.count {
            let length = Code.length(code[index])
            if length == 9, code[index] != Code.elements,
                let table = Self.table(at: code[index + 1..<index + 9]),
                table.tableName == "json_each", table.tableAlias == nil,
                !own.contains(ObjectIdentifier(table))
            {
                return true
            }
            index += length
        }
        return false
    }

    /// The types of all references, except in the places of names behind text.
    fileprivate var referredTables: [any Table.Type] {
        var tables: [any Table.Type] = []
        let isList = code.first == Code.elements
        var index = 0
        while index < code.count {
            let length = Code.length(code[index])
            if length == 9, isList || code[index] != Code.elements,
                let table = Self.table(at: code[index + 1..<index + 9])
            {
                tables.append(table)
            }
            index += length
        }
        return tables
    }

    /// Whether a quoted name is in the text.
    fileprivate func contains(identifier name: String) -> Bool {
        let bytes = Array("\"\(name)\"".utf8)
        return code.indices.contains { code[$0...].starts(with: bytes) }
    }
}

extension Table {
    /// The type of the rows that are there, of a table of rows that may be absent.
    fileprivate static var withoutAbsence: any Table.Type {
        guard let optional = Self.self as? any OptionalTable.Type else { return Self.self }
        return optional.presentTable.withoutAbsence
    }
}
