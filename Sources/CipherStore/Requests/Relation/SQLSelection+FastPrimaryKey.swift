extension SQLSelection {
    /// The columns that find a row of a table fastest.
    static func fastPrimaryKey(of table: String) -> SQLSelection {
        SQLSelection(
            .deferred { db in
                try db.fastPrimaryKeyColumns(of: table).map { .expression(.column($0)) }
            })
    }
}
