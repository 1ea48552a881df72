import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncEngine

/// `syncctl track --convert-keys`.
@Suite(.serialized) struct KeyConversionCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        let queue = try StoreProbe.open(place.path("a.db"), Workplace.passphrase("a"), isNew: true)
        _ = try Synchronizer(queue)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, folder INTEGER REFERENCES folder);
                    CREATE VIEW recent AS SELECT title FROM note ORDER BY id DESC;
                    INSERT INTO folder VALUES (1, 'home'), (2, 'work');
                    """)
            for id in 1...150 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [id, "note \(id)", 1 + id % 2])
            }
        }
        try queue.close()
    }

    private func arguments(_ rest: [String]) -> [String] {
        ["track", place.path("a.db"), "--passphrase-file", place.secret("a"), "--convert-keys"] + rest
    }

    @Test func aDryRunShowsWhatWouldChange() throws {
        let result = try place.succeed(arguments(["--all", "--dry-run"]))
        #expect(
            result.output == """
                would change:
                  TABLE   ROWS  NEW KEY  OF           REFERENCES
                  folder     2  id       the old key
                  note     150  id       the old key  folder
                to be looked at, or accepted by --accept-dependents:
                  view recent is ordered by id

                """)
        #expect(result.errors.contains("--new-since folder=2 --new-since note=150"))
        #expect(try place.rows("a.db", "a", "folder").first == #"1 | "home""#)
        let refused = try place.run(arguments(["--all"]))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("view recent is ordered by id"))
    }

    @Test func theNamesOfTablesAreQuotedForAShell() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            for name in ["we ird \" t", "-dash"] {
                let table = name.quotedDatabaseIdentifier
                try db.execute(sql: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, name TEXT)")
                try db.execute(sql: "INSERT INTO \(table) VALUES (1, 'one')")
            }
        }
        try queue.close()
        let result = try place.succeed(arguments(["--all", "--dry-run"]))
        #expect(result.errors.contains("--new-since 'we ird \" t'=1"), "\(result.errors)")
        #expect(result.errors.contains("--new-since=-dash=1"), "\(result.errors)")
    }

    @Test func tablesAreConvertedAndTrackedAndABackupIsKept() throws {
        let result = try place.succeed(
            arguments([
                "note", "folder", "--accept-dependents", "--keep-old-keys", "--text-keys", "--backup",
                place.path("before.db"), "--json",
            ]))
        let document = try result.document()
        #expect(
            document["tracked"] as? [String] == ["folder", "note"]
                || document["tracked"] as? [String] == ["note", "folder"])
        let conversion = try #require(document["conversion"] as? [String: Any])
        #expect(conversion["dry_run"] as? Bool == false)
        #expect(
            (conversion["tables"] as? [[String: Any]])?.map { $0["name"] as? String } == ["folder", "note"])
        let queue = try place.open("a.db", "a")
        let count = try queue.read {
            try Int.fetchOne(
                $0,
                sql:
                    "SELECT count(*) FROM note n JOIN folder f ON f.id = n.folder WHERE f.old_id = 1 + n.old_id % 2 AND length(n.id) = 36"
            )
        }
        #expect(count == 150)
        #expect(try StoreProbe.problems(queue) == [])
        try queue.close()
        #expect(try place.rows("before.db", "a", "note").count == 150)
        #expect(try place.rows("before.db", "a", "folder").first == #"1 | "home""#)
    }

    @Test func aRefusedConversionLeavesNoBackupInTheWayOfTheNext() throws {
        let backup = place.path("before.db")
        let refused = try place.run(arguments(["--all", "--backup", backup]))
        #expect(refused.status == 1)
        #expect(refused.errors.contains("view recent is ordered by id"))
        #expect(!FileManager.default.fileExists(atPath: backup))
        _ = try place.succeed(arguments(["--all", "--backup", backup, "--accept-dependents"]))
        #expect(FileManager.default.fileExists(atPath: backup))
    }

    @Test func aRecoveryKeyIsNoPassphraseOfTheBackup() throws {
        let path = place.path("a.db")
        let known = Secret(try Passphrase(Workplace.passphrase("a")))
        try StoreRekey.makeKeyring(path: path, from: Passphrase(Workplace.passphrase("a")), cost: .minimum)
        let key = try RecoveryKey.generate()
        let text = try key.withText { String(decoding: $0, as: UTF8.self) }
        try Keyring(store: path).add(Secret(key), unlockingWith: known)
        let typed = try place.folder.writePassphrase(text, to: "recovery")
        let backup = place.path("before.db")
        let words = ["track", path, "--convert-keys", "--all", "--accept-dependents"]
        let refused = try place.run(words + ["--backup", backup, "--passphrase-file", typed])
        #expect(refused.status == 1 && refused.errors.contains("recovery key"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: backup))
        try place.succeed(words + ["--backup", backup, "--passphrase-file", place.secret("a")])
        #expect(try place.rows("before.db", "a", "note").count == 150)
    }

    @Test(arguments: [
        (["note", "--all"], "--all excludes names of tables"),
        ([], "name the tables to track"),
        (["note", "--new-since", "note"], "--new-since is given as <table>=<key>"),
        (["note", "--reference", "note=x"], "--reference is given as"),
        (["note", "--dry-run", "--backup", "x"], "--backup and --dry-run exclude each other"),
    ]) func wrongOptionsAreExplained(_ rest: [String], _ text: String) throws {
        let result = try place.run(arguments(rest))
        #expect(result.status == 64)
        #expect(result.errors.contains(text), "\(result.errors)")
    }

    @Test func optionsOfTheConversionNeedIt() throws {
        let result = try place.run(
            ["track", place.path("a.db"), "note", "--passphrase-file", place.secret("a"), "--dry-run"])
        #expect(result.status == 64)
        #expect(result.errors.contains("--dry-run goes with --convert-keys"))
        let other = try place.run([
            "track", place.path("a.db"), "note", "--passphrase-file", place.secret("a"),
        ])
        #expect(other.errors.contains("--convert-keys"))
    }

    #if os(Linux)
        @Test func aKilledConversionHasHappenedOrNot() async throws {
            let prepared = place
            let campaign = try FaultCampaign(prepared) {
                [
                    "track", $0.path("a.db"), "--passphrase-file", $0.secret("a"), "--convert-keys", "--all",
                    "--accept-dependents",
                ]
            }
            let relation = "SELECT n.title || f.name FROM note n JOIN folder f ON f.id = n.folder ORDER BY 1"
            let read: @Sendable (Workplace) throws -> (kind: String, rows: [String], tracked: Int) = {
                place in
                let queue = try place.open("a.db", "a")
                defer { try? queue.close() }
                #expect(try StoreProbe.problems(queue) == [])
                return try queue.read { db in
                    (
                        try String.fetchOne(
                            db, sql: "SELECT group_concat(DISTINCT typeof(id) || typeof(folder)) FROM note")
                            ?? "",
                        try String.fetchAll(db, sql: relation),
                        try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_table") ?? 0
                    )
                }
            }
            let before = try read(prepared)
            let (count, after) = try campaign.rehearse(read)
            #expect(after.kind == "blobblob")
            #expect(after.rows == before.rows)
            let outcomes = Mutex<[Int: Bool]>([:])
            try await campaign.run(.kill, at: FaultCampaign.calls(of: count, limit: 60)) { run in
                #expect(run.result.status == -SIGKILL, run.comment)
                let left = try read(run.place)
                #expect(left.rows == before.rows, run.comment)
                #expect(left.kind == (left.tracked == 0 ? "integerinteger" : "blobblob"), run.comment)
                outcomes.withLock { $0[run.fault.call] = left.tracked > 0 }
            }
            let order = outcomes.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            #expect(order == order.sorted { !$0 && $1 }, "what was converted stays so")
            #expect(Set(order) == [false, true])
        }
    #endif
}
