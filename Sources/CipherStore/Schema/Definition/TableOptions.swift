/// Options of ``Database/create(table:options:body:)``.
public struct TableOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// Makes options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing when a table or view of that name exists.
    public static let ifNotExists = TableOptions(rawValue: 1 << 0)

    /// The table is seen by this connection only, and goes with it.
    public static let temporary = TableOptions(rawValue: 1 << 1)

    /// The table has no rowids: its rows are kept in the order of the primary key.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/withoutrowid.html>
    public static let withoutRowID = TableOptions(rawValue: 1 << 2)

    /// Columns hold values of their declared types only.
    ///
    /// Libraries before SQLite 3.37 do not have strict tables, and creating one
    /// throws an error there.
    public static let strict = TableOptions(rawValue: 1 << 3)
}

/// Options of ``Database/create(index:on:columns:options:condition:)``.
public struct IndexOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// Makes options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing when an index of that name exists.
    public static let ifNotExists = IndexOptions(rawValue: 1 << 0)

    /// No two rows can have the same values.
    public static let unique = IndexOptions(rawValue: 1 << 1)
}

/// Options of ``Database/create(view:options:columns:as:)``.
public struct ViewOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// Makes options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing when a table or view of that name exists.
    public static let ifNotExists = ViewOptions(rawValue: 1 << 0)

    /// The view is seen by this connection only, and goes with it.
    public static let temporary = ViewOptions(rawValue: 1 << 1)
}

/// Options of ``Database/create(virtualTable:options:using:)``.
public struct VirtualTableOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// Makes options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing when a table or view of that name exists.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1 << 0)

    /// The table is seen by this connection only, and goes with it.
    public static let temporary = VirtualTableOptions(rawValue: 1 << 1)
}

extension Database {
    /// What happens to rows whose parent goes or gets another key.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/foreignkeys.html#fk_actions>
    public enum ForeignKeyAction: String, Sendable {
        /// The rows go, or get the new key.
        case cascade = "CASCADE"
        /// The parent's change fails at once.
        case restrict = "RESTRICT"
        /// The rows' foreign key becomes NULL.
        case setNull = "SET NULL"
        /// The rows' foreign key becomes its default.
        case setDefault = "SET DEFAULT"
    }

    /// When a generated column is computed.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/gencol.html>
    public enum GeneratedColumnQualification: String, Sendable {
        /// When it is read.
        case virtual = "VIRTUAL"
        /// When the row is written.
        case stored = "STORED"
    }
}
