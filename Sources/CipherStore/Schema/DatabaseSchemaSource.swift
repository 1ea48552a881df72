/// A type that completes what SQLite knows of a schema.
///
/// SQLite gives views no primary key. A source tells it, and records that live
/// in a view can then be fetched, updated and deleted by key:
///
/// ```swift
/// struct AppSchemaSource: DatabaseSchemaSource {
///     func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
///         view.name == "captain" ? ["id"] : nil
///     }
/// }
///
/// var configuration = Configuration()
/// configuration.schemaSource = AppSchemaSource()
/// ```
///
/// The answers are cached until the schema changes. A ``DatabaseMigrator`` runs
/// its migrations without a source, because a source describes the newest schema.
public protocol DatabaseSchemaSource: Sendable {
    /// Returns the columns that identify the rows of a view.
    ///
    /// - parameters:
    ///     - db: A connection, by which the schema can be looked at.
    ///     - view: The view.
    /// - returns: The columns; nil when the source does not know the view.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

extension DatabaseSchemaSource {
    /// Knows no view.
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        nil
    }

    /// Returns a source that asks another one where this one has no answer.
    public func then(_ other: some DatabaseSchemaSource) -> some DatabaseSchemaSource {
        ChainedSchemaSource(first: self, second: other)
    }
}

private struct ChainedSchemaSource<First: DatabaseSchemaSource, Second: DatabaseSchemaSource>:
    DatabaseSchemaSource
{
    let first: First
    let second: Second

    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        try first.columnsForPrimaryKey(db, inView: view) ?? second.columnsForPrimaryKey(db, inView: view)
    }
}

extension Database {
    /// The source that completes the schema, if there is one.
    public var schemaSource: (any DatabaseSchemaSource)? { schema.source }

    /// Runs a block with another schema source, or without one.
    ///
    /// - parameters:
    ///     - source: The source to use in the block.
    ///     - execute: The block.
    /// - returns: The block's result.
    /// - throws: The block's error.
    public func withSchemaSource<T>(
        _ source: (any DatabaseSchemaSource)?, execute: () throws -> T
    ) rethrows -> T {
        let previous = schema.source
        schema.source = source
        clearSchemaCache()
        defer {
            schema.source = previous
            clearSchemaCache()
        }
        return try execute()
    }
}
