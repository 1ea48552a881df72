import CipherStore
import SyncWire

/// Which value stands when two concurrent writes gave a column two values.
///
/// ```swift
/// let synchronizer = try Synchronizer(
///     pool, tables: ["note"],
///     policies: [.counter("note", "stars"), .custom("note", "body", merge: "lines")])
/// ```
///
/// A policy is part of the database: it is declared on one replica, and travels to
/// the others with the changes.
public struct ColumnPolicy: Equatable, Sendable {
    /// The kinds of policy. New kinds may be added.
    public enum Kind: Equatable, Sendable {
        /// The later write stands, and the other one goes to the journal.
        case lastWriter
        /// The column counts: what each replica added is summed up. Sums wrap around
        /// at the ends of 64 bits.
        ///
        /// It counts integers only. If the column holds something else, the last writer wins, and nothing is
        /// added until the value is an integer again.
        case counter
        /// A function makes one value of both, see ``Synchronizer/register(mergePolicy:_:)``. Replicas
        /// without the function merge as with `lastWriter`. Its name has at most 256 bytes of UTF-8.
        case custom(name: String)
        /// The greater of both values stands, in SQLite's order of values: numbers, then text by its bytes, then blobs.
        /// NULL gives way to any value.
        ///
        /// It decides between concurrent values only. A writer that knows both may write a smaller value,
        /// which stands as any later write does.
        case max
        /// The smaller of both values stands, in the order of ``max``. NULL gives way to any value.
        case min
    }

    /// The table.
    public let table: String
    /// The column.
    public let column: String
    /// What becomes of concurrent values.
    public let kind: Kind

    /// Makes a policy of a column.
    public init(table: String, column: String, kind: Kind) {
        self.table = table
        self.column = column
        self.kind = kind
    }

    /// The later write stands, which is so for every column without a policy.
    public static func lastWriter(_ table: String, _ column: String) -> ColumnPolicy {
        ColumnPolicy(table: table, column: column, kind: .lastWriter)
    }

    /// The column counts. That can't be undone: from then on, the replicas' additions are kept apart.
    public static func counter(_ table: String, _ column: String) -> ColumnPolicy {
        ColumnPolicy(table: table, column: column, kind: .counter)
    }

    /// The greater of both values stands, see ``Kind/max``.
    ///
    /// ```swift
    /// try synchronizer.setPolicies([.max("article", "read_until"), .min("offer", "price")])
    /// ```
    public static func max(_ table: String, _ column: String) -> ColumnPolicy {
        ColumnPolicy(table: table, column: column, kind: .max)
    }

    /// The smaller of both values stands, see ``Kind/min``.
    public static func min(_ table: String, _ column: String) -> ColumnPolicy {
        ColumnPolicy(table: table, column: column, kind: .min)
    }

    /// A function that is registered under a name makes one value of both.
    public static func custom(_ table: String, _ column: String, merge name: String) -> ColumnPolicy {
        ColumnPolicy(table: table, column: column, kind: .custom(name: name))
    }
}
