/// The tables of the members of a database: what is known of them, and what this file alone may know.
enum MembershipSchema {
    static let sql = StatementLedger.schema + MemberSecrets.schema + StatementFiles.schema
}
