#if compiler(>=6.3)
    import CipherStore
    import Foundation
    import Testing

    /// A database in the place of a file of SQLite's, which this process has open.
    @Suite struct SideFileLockTests {
        /// Whoever closes a descriptor of a file of its own drops all locks of the process on it.
        @Test(.timeLimit(.minutes(5)))
        func aRefusedDatabaseTakesNoLockFromTheOneThatIsInItsWay() async throws {
            let folder = try TemporaryFolder()
            try await ForeignProcess.run(folder) { process in
                let kind = StoreKind(isPool: false, isEncrypted: false)
                let path = folder.file("notes-journal")
                let queue = try DatabaseQueue(path: path)
                try queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
                try queue.writeWithoutTransaction { db throws in
                    try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
                    let refused = #expect(throws: DatabaseError.self) {
                        _ = try DatabaseQueue(path: folder.file("notes"))
                    }
                    #expect(refused?.storeError?.code == .exists)
                    let problem = #expect(throws: ForeignProcess.Problem.self) {
                        try process.execute("INSERT INTO t VALUES (2)", path, kind)
                    }
                    #expect(problem?.description.contains("locked") == true)
                    try db.execute(sql: "COMMIT")
                }
                try queue.close()
            }
        }
    }
#endif
