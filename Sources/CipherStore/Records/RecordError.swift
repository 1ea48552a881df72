/// An error of a record that is not about SQLite.
public enum RecordError: Error, Sendable {
    /// The table has no row of that key.
    ///
    /// - parameters:
    ///     - databaseTableName: The table.
    ///     - key: The columns of the key and their values.
    case recordNotFound(databaseTableName: String, key: [String: DatabaseValue])
}

extension RecordError: CustomStringConvertible {
    /// The table, and the key with its values.
    public var description: String {
        switch self {
        case .recordNotFound(let table, let key):
            let columns = key.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
            return "Key not found in table \(table): [\(columns.joined(separator: ", "))]"
        }
    }
}
