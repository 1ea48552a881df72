import Foundation

/// UUIDs as text, without a string in between.
@usableFromInline enum UUIDText {
    /// Gives the 36 bytes of the lower-case text to a function.
    static func withLowercasedBytes<Value>(of uuid: UUID, _ body: (UnsafeRawBufferPointer) -> Value) -> Value
    {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            withUnsafeBytes(of: uuid.uuid) { bytes in
                var index = 0
                for (position, byte) in bytes.enumerated() {
                    if position == 4 || position == 6 || position == 8 || position == 10 {
                        text[index] = UInt8(ascii: "-")
                        index += 1
                    }
                    text[index] = digit(byte >> 4)
                    text[index + 1] = digit(byte & 15)
                    index += 2
                }
            }
            return body(UnsafeRawBufferPointer(text))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Reads a text of 36 bytes, in upper or lower case.
    @usableFromInline static func uuid(of text: UnsafeRawBufferPointer) throws -> UUID {
        guard text.count == 36 else { throw QueryDecodingError.invalidValue("the text is no UUID") }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        var isValid = true
        withUnsafeMutableBytes(of: &uuid) { bytes in
            var index = 0
            for position in 0..<16 {
                if position == 4 || position == 6 || position == 8 || position == 10 {
                    isValid = isValid && text[index] == UInt8(ascii: "-")
                    index += 1
                }
                let high = value(text[index])
                let low = value(text[index + 1])
                isValid = isValid && high < 16 && low < 16
                bytes[position] = (high & 15) << 4 | low & 15
                index += 2
            }
        }
        guard isValid else { throw QueryDecodingError.invalidValue("the text is no UUID") }
        return UUID(uuid: uuid)
    }

    private static func value(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: 255
        }
    }
}

extension UUID: QueryBindable {
    /// A lower-case text.
    public typealias QueryValue = UUID

    /// Reads a text that is a UUID, in upper or lower case.
    @inlinable
    public init(decoder: inout some QueryDecoder) throws {
        self = try decoder.required(decoder.decodeText { try UUIDText.uuid(of: $0) })
    }

    /// The lower-case text.
    @inlinable
    public var queryBinding: QueryBinding { .uuid(self) }

    /// A UUID that is stored as upper-case text.
    public struct UppercasedRepresentation: QueryBindable, Sendable {
        /// An upper-case text.
        public typealias QueryValue = Self
        /// The type of its values in Swift.
        public typealias QueryOutput = UUID

        /// The UUID.
        public var queryOutput: UUID

        /// Makes a representation.
        public init(queryOutput: UUID) { self.queryOutput = queryOutput }

        /// Reads a text that is a UUID, in upper or lower case.
        public init(decoder: inout some QueryDecoder) throws { queryOutput = try UUID(decoder: &decoder) }

        /// The upper-case text.
        public var queryBinding: QueryBinding { .text(queryOutput.uuidString) }
    }

    /// A UUID that is stored as 16 bytes, as the record layer does it.
    public struct BytesRepresentation: QueryBindable, Sendable {
        /// A blob.
        public typealias QueryValue = Self
        /// The type of its values in Swift.
        public typealias QueryOutput = UUID

        /// The UUID.
        public var queryOutput: UUID

        /// Makes a representation.
        @inlinable
        public init(queryOutput: UUID) { self.queryOutput = queryOutput }

        /// Reads a blob of 16 bytes.
        @inlinable
        public init(decoder: inout some QueryDecoder) throws {
            queryOutput = try decoder.required(
                decoder.decodeBlob { bytes in
                    guard bytes.count == 16 else {
                        throw QueryDecodingError.invalidValue(
                            "the blob is no UUID: it has \(bytes.count) bytes")
                    }
                    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
                })
        }

        /// The 16 bytes.
        @inlinable
        public var queryBinding: QueryBinding { .uuidBytes(queryOutput) }
    }
}

extension UUID? {
    /// A UUID that may be NULL, stored as upper-case text.
    public typealias UppercasedRepresentation = UUID.UppercasedRepresentation?
    /// A UUID that may be NULL, stored as 16 bytes.
    public typealias BytesRepresentation = UUID.BytesRepresentation?
}
