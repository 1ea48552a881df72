import Foundation

/// What a member is called: 1 to 128 bytes of UTF-8, and nothing that hides or reorders other text.
///
/// A name that is made here is normalized (NFC). One that is read is not checked for that.
/// The tables of Unicode differ between programs, and two programs must never disagree about a statement.
public struct MemberName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let text: String

    /// Makes a name of what a person typed.
    ///
    /// - throws: A ``MembershipError`` of code `nameInvalid`.
    public init(_ text: String) throws(MembershipError) {
        try self.init(asWritten: text.precomposedStringWithCanonicalMapping)
    }

    /// Takes a name as it stands in a statement.
    init(asWritten text: String) throws(MembershipError) {
        guard !text.isEmpty, text.utf8.count <= MembershipLimits.nameByteCountMax else {
            throw MembershipError(.nameInvalid, "a name has 1 to \(MembershipLimits.nameByteCountMax) bytes")
        }
        guard text.unicodeScalars.allSatisfy(Self.isAllowed) else {
            throw MembershipError(.nameInvalid, "a name has no control characters")
        }
        self.text = text
    }

    /// Two names are the same when their bytes are. `String` would compare by Unicode's tables.
    public static func == (left: MemberName, right: MemberName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// The name.
    public var description: String { text }

    /// Fixed ranges, and no table of Unicode: controls, separators of lines, marks and controls of direction.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: true
        }
    }
}
