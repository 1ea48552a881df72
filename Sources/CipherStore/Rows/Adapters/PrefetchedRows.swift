/// The rows of other requests that belong to a row.
///
/// They form a tree: those of a scope are found below the scope's name.
struct PrefetchedRows: Equatable {
    var rows: AssociatedRowList?
    var children: [String: PrefetchedRows] = [:]

    var isEmpty: Bool { rows == nil && children.isEmpty }

    mutating func set(_ rows: AssociatedRowList, path: ArraySlice<String>) {
        guard let name = path.first else {
            self.rows = rows
            return
        }
        children[name, default: PrefetchedRows()].set(rows, path: path.dropFirst())
    }

    /// The rows of a name that are nearest to the root.
    func rows(named name: String) -> AssociatedRowList? {
        var level = [self]
        while !level.isEmpty {
            for node in level {
                if let rows = node.children[name]?.rows { return rows }
            }
            level = level.flatMap { node in node.children.sorted { $0.key < $1.key }.map(\.value) }
        }
        return nil
    }

    /// All names below that have rows.
    var names: Set<String> {
        children.reduce(into: []) { names, child in
            if child.value.rows != nil { names.insert(child.key) }
            names.formUnion(child.value.names)
        }
    }
}

extension Row {
    /// The rows of other requests that belong to a row, by name.
    ///
    /// ```swift
    /// let row = try Row.fetchOne(db, Author.including(all: Author.books))!
    /// row.prefetchedRows["books"]   // the rows of the books
    /// ```
    public struct PrefetchedRowsView: Equatable {
        var root: PrefetchedRows

        /// Whether there are none.
        public var isEmpty: Bool { root.names.isEmpty }

        /// The names of the rows, those of the scopes included.
        public var keys: Set<String> { root.names }

        /// The rows of a name, those of a scope included, or nil when rows of
        /// that name were not requested. They are made at each call; the values of all that were fetched together
        /// stay in memory while one of them does, unless it is copied.
        public subscript(_ name: String) -> [Row]? { root.rows(named: name)?.rows }

        /// Gives the row other rows.
        ///
        /// - parameters:
        ///     - rows: The rows.
        ///     - path: Their name, after the names of the scopes that they belong to.
        mutating func setRows(_ rows: [Row], forKeyPath path: [String]) {
            root.set(.rows(rows), path: path[...])
        }
    }
}
