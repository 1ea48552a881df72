import CipherStore

extension Table {
    /// What is wrong when two properties have a column of one name; nil when all names differ.
    ///
    /// The macro sees the properties of one type only, and not the columns of the groups among them.
    static var sharedColumn: String? {
        var owners: [String: String] = [:]
        for column in TableColumns.columnList.columns {
            for name in column.queryColumnNames {
                let key = name.identifierKey
                guard let owner = owners[key] else {
                    owners[key] = column.queryColumnName
                    continue
                }
                return """
                    the column "\(name)" of \(Self.self) is one of "\(owner)" and of \
                    "\(column.queryColumnName)": give the columns of one of them other names, by @Column in its type
                    """
            }
        }
        return nil
    }
}
