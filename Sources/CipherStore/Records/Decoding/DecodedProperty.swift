import Foundation

/// The properties of a record type.
///
/// It is an array whose elements are read in place.
final class DecodedProperties {
    @exclusivity(unchecked) private var elements: UnsafeMutablePointer<DecodedProperty>
    @exclusivity(unchecked) private var capacity = 16
    @exclusivity(unchecked) private(set) var count = 0

    init() { elements = .allocate(capacity: capacity) }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    @inline(__always)
    subscript(_ index: Int) -> DecodedProperty {
        _read { yield elements[index] }
        _modify { yield &elements[index] }
    }

    @inline(__always)
    func hasKey(_ key: String, at index: Int) -> Bool { elements[index].key == key }

    @inline(__always)
    func column(at index: Int) -> Int { elements[index].column }

    func index(of key: String) -> Int? { (0..<count).first { elements[$0].key == key } }

    func append(_ property: DecodedProperty) {
        if count == capacity {
            let larger = UnsafeMutablePointer<DecodedProperty>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: elements, count: count)
            elements.deallocate()
            elements = larger
            capacity *= 2
        }
        (elements + count).initialize(to: property)
        count += 1
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
    /// Whether the strategy for dates is known to be the plain one.
    var isPlainDate = false
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
    /// Whether a column of the type holds JSON.
    var isJSON = false

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
