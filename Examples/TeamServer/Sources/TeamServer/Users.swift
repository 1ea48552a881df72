import CipherStore
import Crypto
import CryptoExtras
import Foundation

/// A person, and what they may do.
struct User: Codable, FetchableRecord, PersistableRecord, Sendable {
    enum Role: String, Codable, CaseIterable, Sendable {
        /// Sees the tasks of the team.
        case reader
        /// Changes them, too.
        case writer
    }

    static let databaseTableName = "user"

    var name: String
    var team: String
    var role: Role
    var salt: Data
    /// What scrypt makes of the password.
    var verifier: Data
}

/// Who there is, in an encrypted file of its own that is not synchronized.
///
/// An actor, so that one password is checked at a time: each takes a tenth of a second and 16 MiB.
actor Users {
    private let database: DatabaseQueue

    init(path: String, configuration: Configuration) throws {
        database = try DatabaseQueue(path: path, configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("users") { db in
            try db.create(table: "user") { t in
                t.primaryKey("name", .text)
                t.column("team", .text).notNull()
                t.column("role", .text).notNull()
                t.column("salt", .blob).notNull()
                t.column("verifier", .blob).notNull()
            }
        }
        try migrator.migrate(database)
    }

    /// Adds a person, or changes the password, the team and the role of one.
    func set(_ name: String, team: String, role: User.Role, password: String) throws {
        // A slash separates the person from the device in the label of a device, and names that look alike are one.
        let allowed = { (byte: UInt8) in byte.isLetterOrDigit || [0x2D, 0x2E, 0x5F].contains(byte) }
        guard (1...40).contains(name.utf8.count), name.utf8.allSatisfy(allowed) else {
            throw Problem("a name has 1 to 40 letters and digits of ASCII, dots, dashes and underscores")
        }
        guard password.count >= 12 else { throw Problem("a password has at least 12 characters") }
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let verifier = try Self.verifier(of: password, salt: salt)
        try database.write { db in
            try User(name: name, team: team, role: role, salt: salt, verifier: verifier).upsert(db)
        }
    }

    /// - returns: Whether there was such a person.
    func remove(_ name: String) throws -> Bool {
        try database.write { db in try User.deleteOne(db, key: name) }
    }

    /// The person with a name and a password, or nil.
    func user(_ name: String, password: String) throws -> User? {
        let user = try database.read { db in try User.fetchOne(db, key: name) }
        // A name that is not there takes as long as one that is.
        let verifier = try Self.verifier(of: password, salt: user?.salt ?? Data(count: 16))
        return user.flatMap { Self.areEqual($0.verifier, verifier) ? $0 : nil }
    }

    private static func verifier(of password: String, salt: Data) throws -> Data {
        let key = try KDF.Scrypt.deriveKey(
            from: Data(password.utf8), salt: salt, outputByteCount: 32, rounds: 1 << 14, blockSize: 8,
            parallelism: 1)
        return key.withUnsafeBytes { Data($0) }
    }

    /// Compares in a time that says nothing of where they differ.
    private static func areEqual(_ one: Data, _ other: Data) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
