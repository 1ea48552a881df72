import CipherStore
import Foundation
import Testing

/// The code of "Opening an encrypted database", "Passphrases and key slots" and "Security".
@Suite struct OpeningSamples {
    let place: SamplePlace

    init() throws { place = try SamplePlace() }

    // sample: opening
    func openNotes(at path: String, passphrase: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.prepareDatabase { db in
            try db.usePassphrase(passphrase)
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }
    // end

    @Test func aQueueOpensAndSaysWhatIsWrong() async throws {
        let path = place.path("notes.db")
        let notes = try openNotes(at: path, passphrase: "correct horse")
        try await notes.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY)") }
        try notes.close()
        // sample: opening-errors
        func describe(opening path: String, passphrase: String) -> String {
            do {
                _ = try openNotes(at: path, passphrase: passphrase)
                return "open"
            } catch {
                switch StoreError(error)?.code {
                case .wrongPassphrase: return "ask for the passphrase again"
                case .plaintext: return "a database without encryption: import it"
                case .damaged: return "take a backup, or clone another replica"
                case .formatTooNew: return "needs SQLCipher 4, or a newer version of this app"
                default: return "\(error)"
                }
            }
        }
        // end
        #expect(describe(opening: path, passphrase: "correct horse") == "open")
        #expect(describe(opening: path, passphrase: "wrong").hasPrefix("ask"))
        let plain = place.path("plain.db")
        try await DatabaseQueue(path: plain).write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(describe(opening: plain, passphrase: "x").hasPrefix("a database without"))
    }

    @Test func aPoolReadsBesideAWriter() async throws {
        let path = place.path("notes.db")
        let passphrase = try Passphrase("correct horse")
        // sample: opening-pool
        var configuration = Configuration()
        configuration.usePassphrase(passphrase)
        configuration.busyMode = .timeout(5)  // seconds to wait for other processes
        let pool = try DatabasePool(path: path, configuration: configuration)
        try noteMigrator().migrate(pool)
        let count = try await pool.read { db in try Note.fetchCount(db) }
        // end
        #expect(count == 0)
    }

    @Test func aPlaintextDatabaseIsImported() throws {
        let plainPath = place.path("plain.db")
        try noteMigrator().migrate(DatabaseQueue(path: plainPath))
        let path = place.path("notes.db")
        // sample: importing
        try PlaintextImport.makeStore(from: plainPath, at: path, passphrase: Passphrase("correct horse"))
        // end
        let notes = try openNotes(at: path, passphrase: "correct horse")
        #expect(try notes.read { try $0.tableExists("note") })
    }

    @Test func aPassphraseIsChanged() throws {
        let path = place.path("notes.db")
        let notes = try openNotes(at: path, passphrase: "correct horse")
        try noteMigrator().migrate(notes)
        // sample: changing-open
        try notes.changePassphrase(Passphrase("battery staple"))
        // end
        #expect(try notes.read { try Note.fetchCount($0) } == 0)
        try notes.close()
        // sample: changing-closed
        try StoreRekey.run(path: path, from: Passphrase("battery staple"), to: Passphrase("a new one"))
        // end
        #expect(try openNotes(at: path, passphrase: "a new one").read { try $0.tableExists("note") })
    }

    @Test func keySlotsOpenOneStore() throws {
        let path = place.path("notes.db")
        try noteMigrator().migrate(openNotes(at: path, passphrase: "correct horse"))
        let printed = place.path("printed")
        func show(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: printed)) }
        // sample: slots
        let passphrase = Secret(try Passphrase("correct horse"))
        try StoreRekey.makeKeyring(path: path, from: Passphrase("correct horse"), label: "me")

        let recoveryKey = try RecoveryKey.generate()
        let keyring = Keyring(store: path)
        try keyring.add(Secret(recoveryKey), label: "safe", unlockingWith: passphrase)
        try recoveryKey.withText { text in
            // Shown once, for paper. Nothing keeps it.
            try show(String(decoding: text, as: UTF8.self))
        }
        for slot in try keyring.information().slots {
            print(slot.id, slot.label)
        }
        // end
        #expect(try keyring.information().slots.map(\.label) == ["me", "safe"])
        // sample: slots-opening
        func unlock(_ path: String, with secret: Secret) throws -> DatabaseQueue {
            var configuration = Configuration()
            configuration.useKeySlot(secret)
            return try DatabaseQueue(path: path, configuration: configuration)
        }
        // end
        let text = try String(contentsOfFile: printed, encoding: .utf8)
        let notes = try unlock(path, with: Secret(RecoveryKey(text)))
        #expect(try notes.read { try $0.tableExists("note") })
        try notes.close()
        // sample: slots-change
        try keyring.changePassphrase(from: Passphrase("correct horse"), to: Passphrase("battery staple"))
        // end
        #expect(throws: StoreError.self) { try keyring.verify(passphrase) }
        // sample: slots-rotate
        try StoreRekey.rotateDataKey(
            path: path, keeping: [Secret(Passphrase("battery staple"))], endsOtherSlots: true)
        // end
        #expect(try keyring.information().slots.map(\.label) == ["me"])
    }

    @Test func anArchiveIsABackup() async throws {
        let path = place.path("notes.db")
        let notes = try openNotes(at: path, passphrase: "correct horse")
        try noteMigrator().migrate(notes)
        let backup = place.path("backup.csa")
        let restored = place.path("restored.db")
        // sample: archive
        try await notes.writeWithoutTransaction { db in
            try StoreArchive.write(
                of: db, to: backup, lock: ArchiveLock(passphrase: Passphrase("kept in a safe")))
        }
        try StoreArchive.restore(
            backup, to: restored, opening: ArchiveSecret(Passphrase("kept in a safe")),
            passphrase: Passphrase("correct horse"))
        // end
        let copy = try openNotes(at: restored, passphrase: "correct horse")
        #expect(try await copy.read { try $0.tableExists("note") })
    }

    @Test func aCheckFindsNothingInASoundStore() throws {
        let path = place.path("notes.db")
        try noteMigrator().migrate(openNotes(at: path, passphrase: "correct horse"))
        // sample: check
        let report = try StoreCheck.run(
            path: path, opening: Secret(Passphrase("correct horse")), isDeep: true)
        for problem in report.problems { print(problem) }
        // end
        #expect(report.problems == [])
    }
}
