import CipherStore

extension Database {
    /// Throws when an emulated `UPDATE … FROM` takes values from a view of the table that it changes: it would read rows that it has
    /// changed already.
    ///
    /// - throws: An error that names the version needed.
    func requireNoOwnView(in fragment: QueryFragment, sql: String) throws {
        guard let (target, sources) = fragment.updatedTable else { return }
        let change = DatabaseEventKind.update(
            tableName: target.tableName, columnNames: Set(target.allColumnNames))
        for source in sources where try isView(source) {
            let view = FragmentRenderer(source.tableFragment, .literals)
            let rows = try makeStatement(sql: "SELECT * FROM \(String(decoding: view.text, as: UTF8.self))")
            guard !rows.databaseRegion.isModified(byEventsOfKind: change) else {
                return try EngineNeed.updateFromOwnView.check(sql: sql)
            }
        }
    }

    /// Whether a type's table is a view.
    func isView(_ table: any Table.Type) throws -> Bool {
        // The first database that has the name counts.
        for schema in table.schemaName.map({ [$0] }) ?? ["temp", "main"] {
            if try tableExists(table.tableName, in: schema) { return false }
            if try viewExists(table.tableName, in: schema) { return true }
        }
        return try table.schemaName == nil && viewExists(table.tableName)
    }
}

extension QueryFragment {
    /// The table that an emulated `UPDATE … FROM` changes, and others in the subqueries behind it.
    fileprivate var updatedTable: (target: any Table.Type, sources: [any Table.Type])? {
        var last: (any Table.Type)?
        var target: (any Table.Type)?
        var sources: [any Table.Type] = []
        var index = 0
        while index < code.count {
            let (kind, start) = (code[index], index)
            index += Code.length(kind)
            if kind == Code.tableSource, let table = Self.table(at: code[start + 1..<index]) {
                last = table
                if target != nil { sources.append(table) }
            } else if kind == Code.need, code[start + 1] == EngineNeed.updateFromOwnView.rawValue,
                target == nil
            {
                target = last
            }
        }
        return target.map { ($0, sources) }
    }
}
