import Foundation

/// The properties of a record type.
///
/// It is an array whose elements are read in place. What is read for each
/// property of each row is in an array of its own.
final class DecodedProperties {
    /// The column of a property, and the coding key that it was last asked for.
    ///
    /// The keys of a record are mostly an enum, of one byte. To compare the byte
    /// and the type says whether two keys are the same without asking them for
    /// their strings.
    private struct Position {
        var keyType: ObjectIdentifier?
        var key: UInt8 = 0
        /// Whether the strategy for dates is known to be the plain one.
        var isPlainDate = false
        /// The column, or -1.
        var column: CInt
    }

    @exclusivity(unchecked) private var positions: UnsafeMutablePointer<Position>
    @exclusivity(unchecked) private var elements: UnsafeMutablePointer<DecodedProperty>
    @exclusivity(unchecked) private var capacity = 16
    @exclusivity(unchecked) private(set) var count = 0

    init() {
        positions = .allocate(capacity: capacity)
        elements = .allocate(capacity: capacity)
    }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
        positions.deallocate()
    }

    @inline(__always)
    subscript(_ index: Int) -> DecodedProperty {
        _read { yield elements[index] }
        _modify { yield &elements[index] }
    }

    /// Whether it is known that a property was asked for by a key.
    @inline(__always)
    func has<Key: CodingKey>(_ key: Key, at index: Int) -> Bool {
        guard MemoryLayout<Key>.size == 1, index < count else { return false }
        return positions[index].key == unsafeBitCast(key, to: UInt8.self)
            && positions[index].keyType == ObjectIdentifier(Key.self)
    }

    /// Remembers the key that a property was asked for by.
    func learn<Key: CodingKey>(_ key: Key, at index: Int) {
        guard MemoryLayout<Key>.size == 1 else { return }
        positions[index].key = unsafeBitCast(key, to: UInt8.self)
        positions[index].keyType = ObjectIdentifier(Key.self)
    }

    /// The column of a property, or -1.
    @inline(__always)
    func column(at index: Int) -> CInt { positions[index].column }

    /// Whether dates of a property are known to be decoded in the plain way.
    @inline(__always)
    func isPlainDate(at index: Int) -> Bool { positions[index].isPlainDate }

    func notePlainDate(at index: Int) { positions[index].isPlainDate = true }

    func index(of key: String) -> Int? { (0..<count).first { elements[$0].key.hasSameBytes(as: key) } }

    func append(_ property: DecodedProperty) {
        if count == capacity { grow() }
        (positions + count).initialize(to: Position(column: CInt(property.column)))
        (elements + count).initialize(to: property)
        count += 1
    }

    private func grow() {
        let larger = UnsafeMutablePointer<DecodedProperty>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: elements, count: count)
        elements.deallocate()
        elements = larger
        let largerPositions = UnsafeMutablePointer<Position>.allocate(capacity: 2 * capacity)
        largerPositions.moveInitialize(from: positions, count: count)
        positions.deallocate()
        positions = largerPositions
        capacity *= 2
    }
}

/// What is known about a property.
struct DecodedProperty {
    enum Scope {
        case unknown
        case none
        case row(Row)
    }

    let key: String
    /// The column, or -1.
    let column: Int
    /// How values of a type are decoded.
    var kind: DecodedKind?
    var dateStrategy: DatabaseDateDecodingStrategy?
    var dataStrategy: DatabaseDataDecodingStrategy?
    var jsonDecoder: JSONDecoder?
    var scope = Scope.unknown

    init(key: String, column: Int?) {
        self.key = key
        self.column = column ?? -1
    }

    /// The name that strategies are asked about.
    func strategyColumn(_ row: Row) -> String {
        guard column >= 0 else { return key }
        let name = row.columnNames[column]
        return name.isSameName(as: key) ? key : name
    }
}

/// How values of a type are decoded.
struct DecodedKind {
    enum Source {
        /// From a column, without an intermediate value.
        case column(any (DatabaseValueConvertible & StatementColumnConvertible).Type)
        /// From a database value.
        case value(any DatabaseValueConvertible.Type)
        /// From a scope, from prefetched rows, from JSON, or from the row itself.
        case complex(any FetchableRecord.Type)
        /// The same, for a type that decodes itself.
        case decodable
    }

    let type: ObjectIdentifier
    let source: Source

    init(_ type: any Decodable.Type) {
        self.type = ObjectIdentifier(type)
        if type is any AnyOptional.Type {
            // It gives the type of its value to the decoder, which knows the strategies.
            source = .decodable
        } else if let type = type as? any (DatabaseValueConvertible & StatementColumnConvertible).Type {
            source = .column(type)
        } else if let type = type as? any DatabaseValueConvertible.Type {
            source = .value(type)
        } else if let type = type as? any FetchableRecord.Type {
            source = .complex(type)
        } else {
            source = .decodable
        }
    }
}
