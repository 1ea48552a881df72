import CipherStore
import Foundation
import Testing

@Suite struct VacuumTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// SQLCipher gives the copy the settings of new files, whatever those of the store are, and no keyring.
    @Test(.enabled(if: EngineFeatures.current.supportsTrustedSchema))
    func aCompactCopyThatNoPassphraseMayOpenIsRefused() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let copy = folder.file("copy.db")
        try queue.writeWithoutTransaction { db throws in
            for sql in ["VACUUM INTO ?", "-- smaller\nvacuum main\ninto ?"] {
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: sql, arguments: [copy])
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("vacuum(into:)") == true)
            }
            // The name of a schema is no keyword.
            try db.execute(sql: "VACUUM \"main\"")
        }
        #expect(try folder.contents() == ["a.db"])
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        try plain.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        #expect(try folder.contents() == ["a.db", "copy.db", "plain.db"])
    }
}
