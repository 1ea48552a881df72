/// The bounds of membership. They are part of the rule: all programs have the same ones.
public enum MembershipLimits {
    /// The most statements of a database.
    public static let statementCountMax = 10_000
    /// The most bytes of a statement with its signature.
    public static let statementByteCountMax = 1 << 20
    /// The most bytes of all statements of a database.
    public static let totalByteCountMax = 64 << 20
    /// Where fewer statements are left, nobody is invited, so that there is room for removals, recoveries and their epochs.
    static let reservedStatementCount = 500
    /// The same for bytes.
    static let reservedByteCount = 4 << 20
    /// The most parents of a statement.
    public static let parentCountMax = 64
    /// A member is added only where there are fewer active ones.
    public static let memberCountMax = 1000
    /// A device is added only where there are fewer active ones.
    public static let deviceCountMax = 5000
    /// The most bytes of a name.
    public static let nameByteCountMax = 128
    /// The most replicas of which a removal names the last change.
    public static let cutOffCountMax = 10_000
    /// The most devices that an epoch is wrapped for. Additions that did not know each other may exceed
    /// ``deviceCountMax``.
    public static let recipientCountMax = 10_000
}
