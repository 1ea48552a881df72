import CipherStore
import Foundation
import Testing

/// Databases whose key was given itself, here and by other programs.
@Suite struct RawKeyTests {
    private static let digits = String(repeating: "00112233445566778899aabbccddeeff", count: 2)
    private static let salt = "0f0e0d0c0b0a09080706050403020100"

    private func open(_ path: String, _ setUp: @escaping @Sendable (Database) throws -> Void) throws
        -> DatabasePool
    {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.prepareDatabase(setUp)
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// As the manual of SQLCipher has it.
    private func openByPragma(_ path: String, _ digits: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA key = \"x'\(digits)'\"; PRAGMA cipher_page_size = 4096")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    @Test(arguments: [digits, digits + salt, digits.uppercased(), "x'\(digits)'", "X'\(digits + salt)'"])
    func aStoreIsMadeAndOpenedAgain(hex: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("raw.db")
        let pool = try open(path) { try $0.useRawKey(RawKey(hex: hex)) }
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let count = try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(count == 1)
        try pool.close()
        let start = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(16)
        if hex.count > 90 { #expect(start.map { String(format: "%02x", $0) }.joined() == Self.salt) }

        let again = try open(path) { try $0.useRawKey(RawKey(hex: Self.digits)) }
        let found = try again.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(found == 1)
        try again.close()
        #expect(try RawKeyProbe.isSound(path, Self.digits))
        // Another program's raw key.
        let other = try openByPragma(path, Self.digits)
        let seen = try other.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(seen == 1)
    }

    @Test func aStoreOfAnotherProgramIsOpened() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("other.db")
        let other = try openByPragma(path, Self.digits + Self.salt)
        try other.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (7)") }
        try other.close()
        let pool = try open(path) { try $0.useRawKey(RawKey(hex: Self.digits)) }
        let value = try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        #expect(value == 7)
    }

    @Test func aPassphraseThatLooksLikeAKeyIsNone() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("text.db")
        let text = "x'\(Self.digits)'"
        let pool = try open(path) { try $0.usePassphrase(text) }
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try pool.close()
        #expect(throws: DatabaseError.self) { try self.open(path) { try $0.useRawKey(RawKey(hex: text)) } }
        #expect(throws: DatabaseError.self) { try self.openByPragma(path, Self.digits) }
        try open(path) { try $0.usePassphrase(text) }.close()
    }

    @Test func aWrongKeyAndAWrongSaltAreErrors() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("raw.db")
        let pool = try open(path) { try $0.useRawKey(RawKey(hex: Self.digits + Self.salt)) }
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try pool.close()
        let wrong = #expect(throws: DatabaseError.self) {
            try self.open(path) { try $0.useRawKey(RawKey(data: Data(count: 32))) }
        }
        #expect(wrong?.resultCode == .SQLITE_NOTADB)
        let salt = #expect(throws: StoreError.self) {
            try self.open(path) { try $0.useRawKey(RawKey(hex: Self.digits + Self.digits.prefix(32))) }
        }
        #expect(salt?.code == .wrongPassphrase)
    }

    @Test(arguments: [
        "", "x''", "00", digits + "0", digits + "00", digits.dropLast() + "g", "x'\(digits)",
        digits + salt + "00",
    ])
    func whatIsNoKeyIsRefused(hex: String) {
        let error = #expect(throws: StoreError.self) { _ = try RawKey(hex: hex) }
        #expect(error?.code == .rawKeyInvalid)
        #expect(error.map { !$0.description.contains("00112233") } == true)
    }

    @Test(arguments: [0, 31, 33, 47, 49]) func otherNumbersOfBytesAreRefused(count: Int) {
        let error = #expect(throws: StoreError.self) { _ = try RawKey(data: Data(count: count)) }
        #expect(error?.code == .rawKeyInvalid)
    }

    @Test func anotherPageSizeIsKept() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("raw.db")
        let pool = try open(path) {
            try $0.useRawKey(RawKey(hex: Self.digits))
            try $0.execute(sql: "PRAGMA cipher_page_size = 8192")
        }
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))") }
        try pool.close()
        let again = try open(path) { try $0.useRawKey(RawKey(hex: Self.digits)) }
        let count = try again.read { try Int.fetchOne($0, sql: "SELECT length(a) FROM t") }
        #expect(count == 20_000)
    }
}

/// Whether `integrity_check` finds nothing.
private enum RawKeyProbe {
    static func isSound(_ path: String, _ digits: String) throws -> Bool {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.useRawKey(RawKey(hex: digits)) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
    }
}
