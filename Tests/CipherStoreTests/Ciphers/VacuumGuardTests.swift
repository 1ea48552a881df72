import CipherStore
import Foundation
import Testing

/// A `VACUUM` through a file, which can damage an encrypted database.
@Suite struct VacuumGuardTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [false, true]) func vacuumIsRefusedInEachWayToRunIt(isKeyedByPragma: Bool) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            guard isKeyedByPragma else { return try db.usePassphrase("secret") }
            let digits = String(repeating: "5a", count: 48)
            try db.execute(sql: "PRAGMA key = \"x'\(digits)'\"; PRAGMA cipher_page_size = 8192")
        }
        let queue = try DatabaseQueue(path: folder.file("b.db"), configuration: configuration)
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE t (a); PRAGMA temp_store = FILE")
            let statement = try db.makeStatement(sql: "/* all */ VACUUM")
            for _ in 1...2 {
                let error = #expect(throws: DatabaseError.self) { try statement.step() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            #expect(throws: DatabaseError.self) { try statement.execute() }
            #expect(throws: DatabaseError.self) { try Row.fetchAll(statement) }
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            let hasRow = try statement.step()
            #expect(!hasRow)
        }
        let count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(count == 0)
    }
}
