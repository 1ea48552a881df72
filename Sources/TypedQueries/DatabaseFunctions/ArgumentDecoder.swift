import Foundation

/// Reads the arguments of a function one after the other.
struct ArgumentDecoder: QueryDecoder {
    private let values: [DatabaseValue]
    private var index = 0

    init(_ values: [DatabaseValue]) { self.values = values }

    private mutating func next() -> DatabaseValue.Storage {
        defer { index += 1 }
        // SQLite passes as many as the function has; a row of more columns reads NULL.
        return index < values.count ? values[index].storage : .null
    }

    mutating func decode(_ type: [UInt8].Type) throws -> [UInt8]? { try decodeBlob { [UInt8]($0) } }

    mutating func decode(_ type: Double.Type) throws -> Double? {
        switch next() {
        case .null: nil
        case .double(let value): value
        case .int64(let value): Double(value)
        case let other: throw Self.mismatch("a number", other)
        }
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64? {
        switch next() {
        case .null: return nil
        case .int64(let value): return value
        case .double(let value) where Int64(exactly: value) != nil: return Int64(exactly: value)
        case let other: throw Self.mismatch("an integer", other)
        }
    }

    mutating func decode(_ type: String.Type) throws -> String? {
        switch next() {
        case .null: nil
        case .string(let value): value
        case let other: throw Self.mismatch("text", other)
        }
    }

    mutating func decodeText<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        guard var text = try decode(String.self) else { return nil }
        return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }

    mutating func decodeBlob<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        switch next() {
        case .null: nil
        case .blob(let data): try data.withUnsafeBytes(body)
        case let other: throw Self.mismatch("a blob", other)
        }
    }

    var isText: Bool {
        guard index < values.count, case .string = values[index].storage else { return false }
        return true
    }

    func areNull(_ count: Int) -> Bool {
        (index..<index + count).allSatisfy { $0 >= values.count || values[$0].isNull }
    }

    mutating func skip(_ count: Int) { index += count }

    private static func mismatch(_ expected: String, _ found: DatabaseValue.Storage) -> QueryDecodingError {
        let kind =
            switch found {
            case .null: "NULL"
            case .int64: "an integer"
            case .double: "a floating-point number"
            case .string: "text"
            case .blob: "a blob"
            }
        return .typeMismatch(expected: expected, found: kind)
    }
}
