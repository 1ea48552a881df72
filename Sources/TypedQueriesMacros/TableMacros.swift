/// Makes a type's values rows of a table.
///
/// ```swift
/// @Table struct Reminder: Identifiable {
///     let id: UUID
///     var title = ""
///     @Column("list_id") var remindersListID: RemindersList.ID
///     @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
///     @Ephemeral var isExpanded = false
/// }
///
/// Reminder.where { $0.title.hasPrefix("Get") }
/// // SELECT "reminders"."id", "reminders"."title", … FROM "reminders" WHERE …
/// ```
///
/// Stored properties are columns. A property without a type gets that of its default value where the source shows it:
/// `var title = ""` is text. Computed, static and lazy properties are none, nor are constants with a value.
///
/// The property `id`, or one with `@Column(primaryKey: true)`, is the primary key. Then there is a type `Draft` too: a
/// row without a key, to which the database gives one. A key of several columns is a property whose type is a nested
/// struct with `@Selection`.
///
/// An enum with `@Table` is a table with a column for each case, see ``Selection(_:)``.
///
/// - parameters:
///     - name: The name of the table. By default it is the type's with a small first letter and in the plural:
///       `RemindersList` is in `remindersLists`.
///     - schema: The name of the database that has the table, if several are attached.
@attached(
    member, names: named(TableColumns), named(ColumnTypes), named(Columns), named(Selection), named(Draft),
    named(PrimaryKey))
@attached(
    extension, conformances: Table, PrimaryKeyedTable,
    names: named(QueryValue), named(QueryOutput), named(tableName), named(schemaName), named(columnWidth),
    named(init(decoder:)), named(writeValues(to:)))
public macro Table(_ name: String = "", schema: String? = nil) =
    #externalMacro(module: "CipherStoreMacros", type: "TableMacro")

/// Makes a type's values rows of a query, or groups of columns in the rows of tables.
///
/// ```swift
/// @Selection struct ListWithCount {
///     let title: String
///     let count: Int
/// }
///
/// RemindersList.group(by: \.id).leftJoin(Reminder.all) { $0.id.eq($1.remindersListID) }
///     .select { ListWithCount.Columns(title: $0.title, count: $1.count()) }
/// ```
///
/// A property of such a type in a table stands for all its columns: `$0.stamps.createdAt` is the column `createdAt`.
/// The names in a table and its groups must differ: a statement of a table in which two properties have a column of one name
/// throws a `DatabaseError` that names both.
///
/// An enum has a column, or a group of them, for each case. All are NULL but the case's own:
///
/// ```swift
/// @Selection enum Attachment {
///     case link(URL)
///     case note(String)
/// }
///
/// Item.where { $0.attachment.link.isNot(nil) }
/// ```
///
/// - parameter name: The name of a common table expression or view, made from the type's name by default.
@attached(
    member, names: named(TableColumns), named(ColumnTypes), named(Columns), named(Selection))
@attached(
    extension, conformances: Table,
    names: named(QueryValue), named(QueryOutput), named(tableName), named(columnWidth),
    named(init(decoder:)), named(writeValues(to:)))
public macro Selection(_ name: String = "") =
    #externalMacro(module: "CipherStoreMacros", type: "SelectionMacro")

/// When a column that SQLite computes is computed.
public enum GeneratedColumnStorage: Sendable {
    /// When the row is written.
    case stored
    /// When the row is read.
    case virtual
}

/// Says how a property of a `@Table` or a `@Selection`, or a case of an enum, is stored.
///
/// ```swift
/// @Column("list_id") var remindersListID: UUID
/// @Column(as: Date.UnixTimeRepresentation.self) var createdAt: Date
/// @Column(generated: .virtual) let sortKey: String
/// ```
///
/// - parameters:
///     - name: The name of the column; that of the property by default.
///     - representation: How values are stored; by default as their type does.
///     - generated: Whether SQLite computes the column. Such a property is a `let`, and it is never written.
///     - primaryKey: Whether the column is the primary key. A property `id` is one unless this is `false`.
///     - lazyInitializable: Whether a draft may leave the value to the database. Keys may by default.
@attached(peer)
public macro Column(
    _ name: String = "", as representation: (any QueryRepresentable.Type)? = nil,
    generated: GeneratedColumnStorage? = nil, primaryKey: Bool? = nil, lazyInitializable: Bool? = nil
) = #externalMacro(module: "CipherStoreMacros", type: "ColumnMacro")

/// The old name of ``Column(_:as:generated:primaryKey:lazyInitializable:)`` for groups of columns.
@attached(peer)
public macro Columns(
    _ name: String = "", as representation: (any QueryRepresentable.Type)? = nil,
    generated: GeneratedColumnStorage? = nil, primaryKey: Bool? = nil, lazyInitializable: Bool? = nil
) = #externalMacro(module: "CipherStoreMacros", type: "ColumnsMacro")

/// Says that a property of a `@Table` or a `@Selection` is no column. It needs a default value, which rows have.
@attached(peer)
public macro Ephemeral() = #externalMacro(module: "CipherStoreMacros", type: "EphemeralMacro")
