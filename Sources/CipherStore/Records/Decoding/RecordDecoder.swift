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

    /// The row, while it is decoded: a row that keeps its decoder is not kept by it.
    @exclusivity(unchecked) private var currentRow: Row?
    /// The statement whose columns are those of the row, or nil to ask the row.
    @exclusivity(unchecked) private(set) var statement: SQLiteStatement?
    let recordType: any FetchableRecord.Type
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    private let columnStrategy: DatabaseColumnDecodingStrategy

    /// The type that is decoded.
    fileprivate let type: ObjectIdentifier
    /// Whether the decoder is kept for other rows.
    fileprivate let isKept: Bool
    /// Whether it is in use: a record may contain another of its type.
    @exclusivity(unchecked) private var isBusy = false

    /// The properties in the order in which they were first asked for.
    let properties = DecodedProperties()
    @exclusivity(unchecked) private var nextProperty = 0
    /// The box of the container, and the type of its keys.
    @exclusivity(unchecked) private var keyedContainer: AnyObject?
    @exclusivity(unchecked) private var keyType: ObjectIdentifier?
    /// The property that is decoded from the columns of the row itself.
    private var rootKey: String?
    private lazy var columnDecoder = ColumnDecoder(self)
    private lazy var convertedKeys = convertKeys()

    init(
        _ type: Any.Type, row: Row, recordType: any FetchableRecord.Type, codingPath: [any CodingKey],
        userInfo: [CodingUserInfoKey: Any], isKept: Bool = false
    ) {
        self.type = ObjectIdentifier(type)
        currentRow = isKept ? nil : row
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
        let decoder = row.recordDecoders.decoder(for: type, row)
        decoder.isBusy = true
        decoder.currentRow = row
        decoder.statement = row.sqliteStatement
        decoder.nextProperty = 0
        decoder.rootKey = nil
        defer {
            decoder.isBusy = false
            decoder.currentRow = nil
            decoder.statement = nil
        }
        return try Record(from: decoder)
    }

    /// The row that is decoded.
    @inline(__always)
    var row: Row {
        guard let currentRow else { fatalError("a decoder was used after its record was decoded") }
        return currentRow
    }

    // MARK: Properties

    /// Returns the position of a property in `properties`.
    @inline(__always)
    func property(_ key: some CodingKey) -> Int {
        let name = key.stringValue
        let next = nextProperty
        if next < properties.count, properties.hasKey(name, at: next) {
            nextProperty = next + 1
            return next
        }
        return unexpectedProperty(name)
    }

    private func unexpectedProperty(_ name: String) -> Int {
        let index = properties.index(of: name) ?? properties.count
        if index == properties.count {
            properties.append(DecodedProperty(key: name, column: column(of: name)))
        }
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

    /// The column of a property, which must be there.
    @inline(__always)
    func column(_ key: some CodingKey) throws -> Int {
        let column = properties.column(at: property(key))
        if column >= 0 { return column }
        throw missingColumn(key)
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
        if case .deferredToDate = strategy { properties[property].isPlainDate = true }
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
    func prefetchedRows(_ key: String) -> [Row]? {
        row.prefetches.isEmpty ? nil : row.prefetches.rows(named: key)
    }
}

/// The decoders that a row keeps.
struct RecordDecoders {
    private var keeper: Keeper?

    /// Breaks the cycles of decoders and containers when the row goes.
    private final class Keeper {
        var decoders: [RecordDecoder] = []
        deinit {
            for decoder in decoders { decoder.releaseContainer() }
        }
    }

    /// Returns a decoder for a record of a row.
    mutating func decoder<Record: FetchableRecord & Decodable>(
        for type: Record.Type, _ row: Row
    ) -> RecordDecoder {
        let identifier = ObjectIdentifier(type)
        if let keeper {
            for decoder in keeper.decoders where decoder.type == identifier && !decoder.isInUse {
                return decoder
            }
        }
        // A copied row is decoded once, and may be read by several threads.
        let isKept = row.statement != nil
        let decoder = RecordDecoder(
            type, row: row, recordType: type, codingPath: [], userInfo: type.databaseDecodingUserInfo,
            isKept: isKept)
        if isKept {
            if keeper == nil { keeper = Keeper() }
            keeper?.decoders.append(decoder)
        }
        return decoder
    }
}

extension RecordDecoder: Decoder {
    fileprivate var isInUse: Bool { isBusy }

    /// Breaks the cycle with the container.
    ///
    /// The container does not keep the decoder. If somebody keeps the container,
    /// which nobody should, the decoder must stay as well: it is given up.
    fileprivate func releaseContainer() {
        guard keyedContainer != nil else { return }
        if !isKnownUniquelyReferenced(&keyedContainer) { _ = Unmanaged.passRetained(self) }
        keyedContainer = nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if let keyedContainer, keyType == ObjectIdentifier(type) {
            // The container is nothing but a reference to its box.
            return unsafeBitCast(keyedContainer, to: KeyedDecodingContainer<Key>.self)
        }
        // Each record of a type asks for the same container. One of other keys owns the decoder:
        // `releaseContainer` looks after the first one only.
        let isFirst =
            isKept && keyedContainer == nil
            && MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
        let container = KeyedDecodingContainer(RecordKeyedDecodingContainer<Key>(self, isKept: isFirst))
        if isFirst {
            keyedContainer = unsafeBitCast(container, to: AnyObject.self)
            keyType = ObjectIdentifier(type)
        }
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
