/// What a connection found out about its schemas.
///
/// Each fact is kept as a ``Fact``, so that "there is no such table" is known too.
struct SchemaCache {
    /// The answer to a question, nil when the answer is that there is nothing.
    struct Fact<Value> {
        let value: Value?
    }

    /// The facts of one schema, by the keys of the tables' names.
    struct Schema {
        /// The objects; nil until they are read.
        var objects: SchemaObjects?
        /// What the texts of the objects tell; nil until they are read.
        var texts: SchemaTexts?
        private var primaryKeys: [String: Fact<PrimaryKeyInfo>] = [:]
        private var columnInfos: [String: Fact<[ColumnInfo]>] = [:]
        private var indexInfos: [String: Fact<[IndexInfo]>] = [:]
        private var foreignKeyInfos: [String: Fact<[ForeignKeyInfo]>] = [:]
        private var uniqueKeyLists: [String: [UniqueKey]] = [:]
        private var indexTraitFacts: [String: IndexTraits] = [:]

        func primaryKey(_ table: String) -> Fact<PrimaryKeyInfo>? { primaryKeys[table.identifierKey] }
        func columns(in table: String) -> Fact<[ColumnInfo]>? { columnInfos[table.identifierKey] }
        func indexes(on table: String) -> Fact<[IndexInfo]>? { indexInfos[table.identifierKey] }
        func foreignKeys(on table: String) -> Fact<[ForeignKeyInfo]>? {
            foreignKeyInfos[table.identifierKey]
        }
        func uniqueKeys(of table: String) -> [UniqueKey]? { uniqueKeyLists[table.identifierKey] }
        func indexTraits(of table: String) -> IndexTraits? { indexTraitFacts[table.identifierKey] }

        mutating func set(primaryKey: PrimaryKeyInfo?, of table: String) {
            primaryKeys[table.identifierKey] = Fact(value: primaryKey)
        }
        mutating func set(columns: [ColumnInfo]?, of table: String) {
            columnInfos[table.identifierKey] = Fact(value: columns)
        }
        mutating func set(indexes: [IndexInfo]?, of table: String) {
            indexInfos[table.identifierKey] = Fact(value: indexes)
        }
        mutating func set(foreignKeys: [ForeignKeyInfo]?, of table: String) {
            foreignKeyInfos[table.identifierKey] = Fact(value: foreignKeys)
        }
        mutating func set(uniqueKeys keys: [UniqueKey], of table: String) {
            uniqueKeyLists[table.identifierKey] = keys
        }
        mutating func set(indexTraits traits: IndexTraits, of table: String) {
            indexTraitFacts[table.identifierKey] = traits
        }
    }

    private var schemas: [DatabaseSchemaID: Schema] = [:]

    /// The schemas in the order in which SQLite looks a name up; nil until they are read.
    var schemaIDs: [DatabaseSchemaID]?

    var isEmpty: Bool { schemas.isEmpty && schemaIDs == nil }

    subscript(schemaID: DatabaseSchemaID) -> Schema {
        get { schemas[schemaID] ?? Schema() }
        _modify { yield &schemas[schemaID, default: Schema()] }
    }

    /// The versions that schemas of files had when their first fact was read.
    private(set) var versions: [(schemaID: DatabaseSchemaID, version: Int64)] = []

    /// Notes the version of a schema of which nothing was known.
    mutating func note(version: Int64, of schemaID: DatabaseSchemaID) {
        versions.append((schemaID, version))
    }
}

/// The names of the objects of a schema.
struct SchemaObjects {
    /// The types of objects.
    enum Kind: String {
        case table
        case view
        case index
        case trigger
    }

    /// Declared names by kind and the keys of the names.
    private var names: [Kind: [String: String]] = [:]

    /// The folded names of the virtual tables.
    private(set) var virtualTables: Set<String> = []

    mutating func insert(_ kind: Kind, _ name: String, isVirtual: Bool = false) {
        names[kind, default: [:]][name.identifierKey] = name
        if isVirtual { virtualTables.insert(name.foldedIdentifier) }
    }

    /// The declared name of an object, or nil when there is none.
    func name(_ kind: Kind, _ name: String) -> String? { names[kind]?[name.identifierKey] }

    /// The declared names of the tables.
    var tables: [String] { names[.table].map { Array($0.values) } ?? [] }
}

/// What a connection keeps about schemas: the cache, the source and the observers.
///
/// It is a class, so that the connection needs one stored property for it.
final class ConnectionSchema {
    /// What is known.
    var cache = SchemaCache()

    /// What is known of tables about changes of one row, by the keys of their names.
    var singleRowTables: [String: SingleRowTable] = [:]

    /// How often what was known was forgotten.
    var generation = 0

    /// Whether a statement changed the schema in the open transaction.
    var hasChangedInTransaction = false

    /// Whether the open transaction is known to see the schema that is cached. It
    /// goes on to see that schema until it ends, whatever others do.
    var isVerifiedInTransaction = false

    /// The version of the main schema when it was last looked whether the store is tracked.
    var trackingVersion: Int64?

    /// Whether that need not be looked at any more.
    var isTrackingSettled = false

    /// Whether it has to be looked at before the next change: see ``Database/noticeTracking()``.
    @exclusivity(unchecked) var looksForTracking = false

    /// The source that completes what SQLite knows.
    var source: (any DatabaseSchemaSource)?

    /// Who is told about changes that go through the library.
    var observers: [any SchemaChangeObserver] = []

    /// Whether a change of a table is being reported, or must not be.
    var isReporting = false

    init(source: (any DatabaseSchemaSource)?) { self.source = source }
}

extension Database {
    /// The cache of the connection.
    var schemaCache: SchemaCache {
        get { schema.cache }
        _modify { yield &schema.cache }
    }

    /// Forgets what is known of the schema, and the cached statements.
    ///
    /// The library does so itself after each statement that changes the schema,
    /// and when an access to the database starts and another connection changed
    /// it. Call it after you changed it by the C API.
    public func clearSchemaCache() {
        schema.generation += 1
        if !schema.singleRowTables.isEmpty { schema.singleRowTables = [:] }
        if !schema.cache.isEmpty { schema.cache = SchemaCache() }
        clearStatementCache()
    }

    /// Forgets what is known of the schema if another connection changed it.
    ///
    /// It reads the version of each schema that something is known of, which is
    /// a number in the file's first page. Call it when an access starts, inside
    /// of its transaction if it has one. It costs nothing while nothing is known.
    func clearSchemaCacheIfNeeded() {
        guard !isClosed else { return }
        for (schemaID, version) in schema.cache.versions {
            // A version that can't be read now can't be trusted either.
            let current = try? protected { try self.version(of: schemaID) }
            guard current == version else {
                clearSchemaCache()
                return
            }
        }
    }

    /// Forgets what is known of the schema if another connection has changed it,
    /// unless the open transaction keeps that from being seen.
    ///
    /// Outside of a transaction, or in one that has not read anything yet, others
    /// can change the schema between two statements.
    func noticeSchemaChange() {
        guard !schema.isVerifiedInTransaction, isShared else { return }
        schema.isVerifiedInTransaction = isInsideTransaction
        clearSchemaCacheIfNeeded()
    }

    /// Notes that a statement that has an effect on the schema has run to its end.
    func didRunStatement(_ effect: SchemaEffect) {
        switch effect {
        case .none:
            return
        case .change:
            schema.hasChangedInTransaction = isInsideTransaction
        case .rollback:
            guard schema.hasChangedInTransaction else { return }
            schema.hasChangedInTransaction = isInsideTransaction
        }
        clearSchemaCache()
    }

    /// Notes that a statement failed, which may have ended the transaction.
    func didFailStatement() {
        guard schema.hasChangedInTransaction, !isInsideTransaction else { return }
        schema.hasChangedInTransaction = false
        clearSchemaCache()
    }
}
