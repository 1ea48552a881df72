import Foundation

/// A value of a statement's parameter. It travels in PostgreSQL's binary format.
enum PostgresValue: Sendable {
    case integer(Int64?)
    case bytes(Data)
    case text(String)
    case integers([Int64?])
    case byteStrings([Data?])
    case texts([String])

    /// The type, as the server numbers it.
    enum Kind: CUnsignedInt {
        case integer = 20
        case bytes = 17
        case text = 25
        case integers = 1016
        case byteStrings = 1001
        case texts = 1009

        /// The type of what an array has.
        var element: Kind {
            switch self {
            case .integers: .integer
            case .byteStrings: .bytes
            case .texts: .text
            default: self
            }
        }
    }

    var kind: Kind {
        switch self {
        case .integer: .integer
        case .bytes: .bytes
        case .text: .text
        case .integers: .integers
        case .byteStrings: .byteStrings
        case .texts: .texts
        }
    }

    /// Adds the bytes of the value.
    ///
    /// - returns: false when it is NULL.
    func encode(into bytes: inout [UInt8]) -> Bool {
        switch self {
        case .integer(let number):
            guard let number else { return false }
            bytes.append(bigEndian: number)
        case .bytes(let data): bytes.append(contentsOf: data)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .integers(let numbers):
            Self.encode(numbers, .integer, into: &bytes) { $1.append(bigEndian: $0) }
        case .byteStrings(let strings):
            Self.encode(strings, .bytes, into: &bytes) { $1.append(contentsOf: $0) }
        case .texts(let texts):
            Self.encode(texts, .text, into: &bytes) { $1.append(contentsOf: $0.utf8) }
        }
        return true
    }

    private static func encode<Element>(
        _ elements: [Element?], _ kind: Kind, into bytes: inout [UInt8],
        _ encode: (Element, inout [UInt8]) -> Void
    ) {
        // The number of dimensions, whether there are NULLs, the type, and for the one dimension its length and first index.
        bytes.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        bytes.append(bigEndian: Int32(elements.contains { $0 == nil } ? 1 : 0))
        bytes.append(bigEndian: Int32(kind.rawValue))
        guard !elements.isEmpty else { return }
        bytes.append(bigEndian: Int32(elements.count))
        bytes.append(bigEndian: Int32(1))
        for element in elements {
            guard let element else {
                bytes.append(bigEndian: Int32(-1))
                continue
            }
            let start = bytes.count
            bytes.append(bigEndian: Int32(0))
            encode(element, &bytes)
            let length = Int32(bytes.count - start - 4)
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }
    }
}

extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

/// A statement that each connection prepares when it needs it first.
struct PostgresStatement: Sendable {
    /// A name that no other statement has.
    let name: String
    let sql: String
    let parameters: [PostgresValue.Kind]

    init(_ name: String, _ parameters: [PostgresValue.Kind], _ sql: String) {
        self.name = name
        self.parameters = parameters
        self.sql = sql
    }
}
