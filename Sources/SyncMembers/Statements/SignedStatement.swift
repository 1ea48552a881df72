/// A statement with the signature of its issuer. There is none with a wrong one.
///
/// Two are equal when their issuers signed the same bytes.
public struct SignedStatement: Hashable, Sendable, CustomStringConvertible {
    static let signatureByteCount = 64

    /// What is said, and by whom.
    public let statement: Statement
    /// What names the statement.
    public let id: StatementID
    /// The statement as it travels and is kept: its content and 64 bytes of signature.
    public let bytes: [UInt8]

    /// Signs what a device says.
    ///
    /// - throws: A ``MembershipError``: the statement is by another device, or too large.
    public init(_ statement: Statement, by keys: MemberDeviceKeys) throws(MembershipError) {
        guard statement.issuer == .device(keys.card) else {
            throw MembershipError(.keyInvalid, "the statement is by another device")
        }
        try self.init(statement, signer: keys)
    }

    /// Signs what the holder of the recovery key says.
    ///
    /// - throws: A ``MembershipError``: the statement is by somebody else.
    public init(_ statement: Statement, by key: MembershipRecoveryKey) throws(MembershipError) {
        guard statement.issuer == .recovery(key.card) else {
            throw MembershipError(.keyInvalid, "the statement is by another recovery key")
        }
        try self.init(statement, signer: key.keys)
    }

    private init(_ statement: Statement, signer: MemberDeviceKeys) throws(MembershipError) {
        let content = statement.content
        guard content.count <= MembershipLimits.statementByteCountMax - Self.signatureByteCount else {
            throw MembershipError(.tooLarge, "a statement has too many bytes")
        }
        let signed = Statement.signed(content)
        bytes = content + (try signer.signature(of: signed))
        id = StatementID(of: content[...])
        self.statement = statement
    }

    /// Reads a statement, and checks its signature.
    ///
    /// - throws: A ``MembershipError`` of code `malformed`, `tooLarge`, `signatureInvalid`, `keyInvalid` or
    ///   `nameInvalid`; of code `newerProgramNeeded` when a newer program reads it.
    public init(bytes: [UInt8]) throws(MembershipError) {
        guard bytes.count <= MembershipLimits.statementByteCountMax else {
            throw MembershipError(.tooLarge, "a statement has too many bytes")
        }
        guard bytes.count > Self.signatureByteCount else {
            throw MembershipError(.malformed, "a statement is cut off")
        }
        let content = Array(bytes.dropLast(Self.signatureByteCount))
        statement = try Statement(content: content)
        let signed = Statement.signed(content)
        guard statement.issuer.card.isValid(Array(bytes.suffix(Self.signatureByteCount)), of: signed) else {
            throw MembershipError(.signatureInvalid, "a statement is not by the one that it names")
        }
        id = StatementID(of: content[...])
        self.bytes = bytes
    }

    /// Reads a statement that was read before, when its signature was checked, and kept where nobody else writes.
    ///
    /// - throws: As ``init(bytes:)``, but for a wrong signature.
    package init(kept bytes: [UInt8]) throws(MembershipError) {
        guard bytes.count > Self.signatureByteCount else {
            throw MembershipError(.malformed, "a statement is cut off")
        }
        let content = bytes.dropLast(Self.signatureByteCount)
        statement = try Statement(kept: content)
        id = StatementID(of: content)
        self.bytes = bytes
    }

    /// Compares the names.
    public static func == (left: SignedStatement, right: SignedStatement) -> Bool { left.id == right.id }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The kind and the name.
    public var description: String { "statement \(id.shortDescription)" }
}
