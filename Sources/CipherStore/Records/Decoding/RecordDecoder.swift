import Foundation

/// Decodes the properties of a `Decodable` record from a row.
///
/// The rows of a cursor are one object, which keeps the decoder. What it finds
/// out for the first row, such as the column of each coding key, it remembers
/// for the others: the keys of a type are mostly asked for in one order, so
/// that each is found where it was expected.
final class RecordDecoder {
    // Rows are decoded by the hundred thousand. So what is read for each
    // property is kept where it costs no reference counting, and no checks for
    // overlapping accesses, which a decoder, of one thread at a time, has none of.

    /// The row, while it is decoded: a row that keeps its decoder is not kept by
    /// it, but whoever decodes it keeps it.
    @exclusivity(unchecked) private unowned(unsafe) var currentRow: Row
    /// The row of a decoder that is for one row only.
    private let ownRow: Row?
    /// The statement whose columns are those of the row, or nil to ask the row.
    @exclusivity(unchecked) private var statement: SQLiteStatement?
    let recordType: any FetchableRecord.Type
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    private let columnStrategy: DatabaseColumnDecodingStrategy

    /// The type that is decoded.
    private let type: ObjectIdentifier
    /// Whether the decoder is kept for other rows.
    private let isKept: Bool
    /// Whether it is in use: a record may contain another of its type.
    @exclusivity(unchecked) private var isBusy = false

    /// The properties in the order in which they were first asked for.
    let properties = DecodedProperties()
    @exclusivity(unchecked) private var nextProperty = 0
    /// What has the container, and the type of its keys.
    @exclusivity(unchecked) private var containerSource: (any AnyContainerSource)?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?
    /// The property that is decoded from the columns of the row itself.
    @exclusivity(unchecked) private var rootKey: String?
    private lazy var columnDecoder = ColumnDecoder(self)
    private lazy var convertedKeys = convertKeys()

    init(
        _ type: Any.Type, row: Row, recordType: any FetchableRecord.Type, codingPath: [any CodingKey],
        userInfo: [CodingUserInfoKey: Any], isKept: Bool = false
    ) {
        self.type = ObjectIdentifier(type)
        currentRow = row
        ownRow = isKept ? nil : row
        self.recordType = recordType
        self.codingPath = codingPath
        self.userInfo = userInfo
        self.isKept = isKept
        columnStrategy = recordType.databaseColumnDecodingStrategy
    }

    /// Decodes a record.
    static func decode<Record: FetchableRecord & Decodable>(
        _ type: Record.Type, from row: Row
    ) throws -> Record {
        let decoder = row.recordDecoder(for: type)
        decoder.begin(row)
        defer { decoder.isBusy = false }
        return try withExtendedLifetime(row) { try Record(from: decoder) }
    }

    @inline(__always)
    private func begin(_ row: Row) {
        isBusy = true
        currentRow = row
        statement = row.sqliteStatement
        nextProperty = 0
        if rootKey != nil { rootKey = nil }
    }

    /// The row that is decoded.
    @inline(__always)
    var row: Row {
        guard isBusy || ownRow != nil else { fatalError("a decoder was used after its record was decoded") }
        return currentRow
    }

    /// The statement whose columns are those of the row that is decoded, or nil to ask the row.
    @inline(__always)
    var liveStatement: SQLiteStatement? { isBusy ? statement : nil }

    // MARK: Properties

    /// Returns the position of a property in `properties`.
    @inline(__always)
    func property(_ key: some CodingKey) -> Int {
        let next = nextProperty
        guard properties.has(key, at: next) else { return unexpectedProperty(key) }
        nextProperty = next &+ 1
        return next
    }

    @inline(never)
    private func unexpectedProperty(_ key: some CodingKey) -> Int {
        let name = key.stringValue
        let next = nextProperty
        let isNext = next < properties.count && properties[next].key.hasSameBytes(as: name)
        let index = isNext ? next : properties.index(of: name) ?? properties.count
        if index == properties.count {
            properties.append(DecodedProperty(key: name, column: column(of: name)))
        }
        properties.learn(key, at: index)
        nextProperty = index + 1
        return index
    }

    /// The column of a key, or nil when the row has none.
    func column(of key: String) -> Int? {
        switch columnStrategy {
        case .useDefaultKeys: row.index(ofColumn: key)
        default: convertedKeys[key]
        }
    }

    /// The columns by the keys that they are converted to.
    private func convertKeys() -> [String: Int] {
        Dictionary(
            zip(row.columnNames.map(key(ofColumn:)), 0...), uniquingKeysWith: { leftmost, _ in leftmost })
    }

    /// The key of a column.
    func key(ofColumn name: String) -> String {
        switch columnStrategy {
        case .useDefaultKeys: name
        case .convertFromSnakeCase: name.convertedFromSnakeCase
        case .custom(let key): key(name).stringValue
        }
    }

    func missingColumn(_ key: some CodingKey) -> RowDecodingError {
        RowDecodingError(.keyNotFound(missingKey(key)), type: "a value", row: row)
    }

    /// Remembers the property that the row itself is decoded as.
    ///
    /// A record that is made of a record and of its associated records, which
    /// are scopes, finds that one record in the columns around them. More than
    /// one would be ambiguous.
    func takeRoot(for key: some CodingKey) throws {
        let name = key.stringValue
        guard let rootKey, rootKey != name else {
            rootKey = name
            return
        }
        throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "No such key: \(rootKey) or \(name)"))
    }

    /// Decodes a single value from a column.
    ///
    /// - returns: nil when the type needs JSON.
    func decodeColumn<Value: Decodable>(
        _ type: Value.Type, at index: Int, property: Int, key: some CodingKey
    ) throws -> Value? {
        try columnDecoder.decode(type, at: index, name: properties[property].strategyColumn(row), key: key)
    }

    // MARK: Strategies

    func dateStrategy(_ property: Int) -> DatabaseDateDecodingStrategy {
        if let strategy = properties[property].dateStrategy { return strategy }
        let strategy = recordType.databaseDateDecodingStrategy(for: properties[property].strategyColumn(row))
        properties[property].dateStrategy = strategy
        if case .deferredToDate = strategy { properties.notePlainDate(at: property) }
        return strategy
    }

    func dataStrategy(_ property: Int) -> DatabaseDataDecodingStrategy {
        if let strategy = properties[property].dataStrategy { return strategy }
        let strategy = recordType.databaseDataDecodingStrategy(for: properties[property].strategyColumn(row))
        properties[property].dataStrategy = strategy
        return strategy
    }

    func jsonDecoder(_ property: Int) -> JSONDecoder {
        if let decoder = properties[property].jsonDecoder { return decoder }
        let decoder = recordType.databaseJSONDecoder(for: properties[property].strategyColumn(row))
        properties[property].jsonDecoder = decoder
        return decoder
    }

    // MARK: Scopes

    /// The row of a scope, or nil.
    func scope(_ property: Int) -> Row? {
        guard row.adapted?.scopes.isEmpty == false else { return nil }
        switch properties[property].scope {
        case .unknown: break
        case .none: return nil
        case .row(let row): return row
        }
        let scope = row.scopesTree[properties[property].key]
        // The scopes of a statement's row move on with it.
        if isKept { properties[property].scope = scope.map { .row($0) } ?? .none }
        return scope
    }

    /// The rows of another request, or nil.
    func prefetchedRows(_ key: String) -> AssociatedRowList? {
        row.prefetches.isEmpty ? nil : row.prefetches.rows(named: key)
    }
}

extension RecordDecoder: Decoder {
    /// Whether it decodes records of a type, and is not decoding one.
    @inline(__always)
    func isFree(for type: ObjectIdentifier) -> Bool { self.type == type && !isBusy }

    /// Lets go of the container, when the row goes.
    ///
    /// The container does not keep the decoder. If somebody keeps the container,
    /// which nobody should, the decoder must stay as well: it is given up.
    func releaseContainer() {
        guard let containerSource else { return }
        if !containerSource.isOnlyOwner() { _ = Unmanaged.passRetained(self) }
        self.containerSource = nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        // Each record of a type asks for the same container.
        if let containerSource, keyType == ObjectIdentifier(type) {
            return unsafeDowncast(containerSource, to: ContainerSource<KeyedDecodingContainer<Key>>.self)
                .copy()
        }
        return makeContainer(type)
    }

    @inline(never)
    private func makeContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        guard isKept && containerSource == nil else {
            // `releaseContainer` looks after the first container only: others own the decoder.
            return KeyedDecodingContainer(RecordKeyedDecodingContainer<Key, RecordDecoder>(self, owner: self))
        }
        let container = KeyedDecodingContainer(RecordKeyedDecodingContainer<Key, Void>(self, owner: ()))
        containerSource = ContainerSource(container)
        keyType = ObjectIdentifier(type)
        return container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.typeMismatch(
            [Any].self,
            DecodingError.Context(codingPath: codingPath, debugDescription: "a row is not an array"))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        RowSingleValueContainer(decoder: self)
    }
}
