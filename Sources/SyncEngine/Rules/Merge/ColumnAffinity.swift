import CipherStore
import Foundation
import SyncWire

/// What SQLite makes of values that are stored in a column.
/// See <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
enum ColumnAffinity {
    case integer
    case text
    case blob
    case real
    case numeric

    init(type: String) {
        let type = type.uppercased()
        self =
            if type.contains("INT") {
                .integer
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                .text
            } else if type.isEmpty || type.contains("BLOB") {
                .blob
            } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                .real
            } else {
                .numeric
            }
    }

    /// The SQL of a value as a comparison with a column of this affinity sees it.
    func applied(to value: String) -> String {
        switch self {
        case .blob: value
        case .text:
            "CASE WHEN typeof(\(value)) IN ('integer', 'real') THEN CAST(\(value) AS TEXT) ELSE \(value) END"
        case .integer, .real, .numeric:
            // The comparison tells whether the text is a number as a whole.
            """
            CASE WHEN typeof(\(value)) = 'text' AND CAST(\(value) AS NUMERIC) = \(value) \
            THEN CAST(\(value) AS NUMERIC) ELSE \(value) END
            """
        }
    }
}
