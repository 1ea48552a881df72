extension Row {
    /// The scopes of a row: rows inside of the row, by name.
    ///
    /// Scopes come from the row's adapter. See ``ScopeAdapter``.
    public struct ScopesView: Collection {
        private let row: Row
        private let columns: [(key: String, value: AdaptedColumns)]

        init(row: Row) {
            self.row = row
            columns = row.adapted?.scopes.sorted { $0.key < $1.key } ?? []
        }

        /// A position in the scopes.
        public struct Index: Comparable {
            let position: Int

            /// Returns whether one position comes before another.
            public static func < (left: Index, right: Index) -> Bool { left.position < right.position }
        }

        /// The position of the first scope.
        public var startIndex: Index { Index(position: 0) }
        /// The position after the last scope.
        public var endIndex: Index { Index(position: columns.count) }
        /// Returns the next position.
        public func index(after index: Index) -> Index { Index(position: index.position + 1) }

        /// The name and the row of a scope.
        public subscript(position: Index) -> (name: String, row: Row) {
            let (name, columns) = columns[position.position]
            return (name, row.scope(name, columns))
        }

        /// The names of the scopes.
        public var names: [String] { columns.map(\.key) }

        /// The row of a scope, or nil. Names of scopes have case.
        public subscript(_ name: String) -> Row? {
            row.adapted?.scopes[name].map { row.scope(name, $0) }
        }
    }

    /// The scopes of a row, and the scopes of those, at any depth.
    public struct ScopesTreeView {
        private let row: Row

        init(row: Row) { self.row = row }

        /// The names of all scopes.
        public var names: Set<String> {
            row.scopes.reduce(into: []) { names, scope in
                names.insert(scope.name)
                names.formUnion(scope.row.scopesTree.names)
            }
        }

        /// The row of the scope of that name that is nearest to the root, or nil.
        public subscript(_ name: String) -> Row? {
            if let row = row.scopes[name] { return row }
            var level = row.scopes.map(\.row)
            while !level.isEmpty {
                for row in level {
                    if let scope = row.scopes[name] { return scope }
                }
                level = level.flatMap { $0.scopes.map(\.row) }
            }
            return nil
        }
    }

    /// The rows inside of the row, by name.
    public var scopes: ScopesView { ScopesView(row: self) }

    /// The rows inside of the row at any depth, by name.
    public var scopesTree: ScopesTreeView { ScopesTreeView(row: self) }

    /// The row without its scopes and prefetched rows.
    public var unscoped: Row {
        guard let adapted else { return prefetches.isEmpty ? self : Row(viewing: self, nil) }
        return Row(viewing: self, adapted.unscoped)
    }

    /// The row with all the columns of its statement.
    public var unadapted: Row {
        adapted == nil && prefetches.isEmpty ? self : Row(viewing: self, nil)
    }

    /// The row of one of the scopes.
    fileprivate func scope(_ name: String, _ columns: AdaptedColumns) -> Row {
        let scope = Row(viewing: self, columns)
        if let below = prefetches.children[name] { scope.prefetches = below }
        return scope
    }
}
