#if os(Linux)
    import Foundation
    import Testing

    @testable import CipherStore
    @testable import SyncEngine

    /// Stores that can't be written. A library between `syncctl` and the system says so, to root too.
    @Suite(.serialized) struct ReadOnlyStoreTests {
        private let place: Workplace
        private let interposer: Interposer
        /// The folder of the store, in which nothing can be made.
        private let folder: String
        private var store: String { folder + "/a.db" }

        init() throws {
            place = try Workplace()
            interposer = try Interposer()
            folder = place.path("medium")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try place.makeStore("medium/a.db", "a")
        }

        private func run(
            _ arguments: [String], error: String = "EROFS", mode: Fault.Mode = .readOnly
        ) throws -> CommandResult {
            var environment = interposer.environment(
                below: folder, fault: Fault(mode: mode, call: 1), count: place.path("count"))
            environment["FAULT_ERROR"] = error
            return try CommandRunner.run(
                arguments + ["--passphrase-file", place.secret("a")], environment: environment)
        }

        /// The names of the files beside the store, and what each holds.
        private func files() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0)))
                })
        }

        /// Writes a row that has no version, by a program that is not `syncctl`.
        private func edit() throws {
            let queue = try place.open("medium/a.db", "a")
            try StoreProbe.insert(100..<101, into: queue)
            try queue.close()
        }

        /// Gives versions to what was written, as a synchronization does.
        private func fold() throws {
            let queue = try place.open("medium/a.db", "a")
            try queue.write { _ = try FoldedStore.fold($0, .system) }
            try queue.close()
        }

        @Test(arguments: [
            ["status"], ["tables"], ["schema"], ["log"], ["conflicts", "list"], ["parked", "list"],
            ["replica", "list"], ["remote", "list"], ["device", "list"], ["member", "list"],
            ["verify"], ["verify", "--deep"], ["doctor"],
        ])
        func commandsThatReadDoSoAndChangeNothing(words: [String]) throws {
            let before = try files()
            let options = words.filter { $0.hasPrefix("--") }
            let result = try run(words.filter { !$0.hasPrefix("--") } + [store] + options)
            #expect(result.status == 0 || (words == ["doctor"] && result.status == 3), "\(result.errors)")
            #expect(result.errors.contains("\(store) can't be written"), "\(result.errors)")
            let deed = words[0] == "verify" ? "was checked as it is" : "was opened for reading only"
            #expect(result.errors.contains(deed), "\(result.errors)")
            #expect(try files() == before)
        }

        @Test(arguments: ["EROFS", "EACCES"]) func aReadSaysWhyTheStoreIsReadOnly(error: String) throws {
            let result = try run(["status", store], error: error)
            #expect(result.status == 0)
            #expect(result.errors.contains("\(store) can't be written"))
            #expect(
                result.errors.contains(error == "EROFS" ? "read-only file system" : "permission denied"))
        }

        @Test func sqlReadsAndRefusesToWrite() throws {
            let result = try run(["sql", store, "SELECT count(*) AS n FROM person", "--jsonl"])
            #expect(result.output == "{\"n\":20}\n", "\(result.errors)")
            #expect(result.errors.contains("\(store) can't be written"), "\(result.errors)")
            let refused = try run(["sql", store, "DELETE FROM person", "--write"])
            #expect(refused.status == 1)
            #expect(refused.errors.contains("read-only file system"), "\(refused.errors)")
        }

        @Test(arguments: [
            ["--format", "csv", "--table", "person"], ["--format", "sql"],
            ["--to", "plain.sqlite", "--plaintext"],
            ["--to", "copy.db", "--to-passphrase-file", "b"],
            ["--to", "copy.csa", "--to-passphrase-file", "b"],
        ])
        func allThatIsThereIsExported(options: [String]) throws {
            try fold()
            let before = try files()
            let paths = options.map { word in
                word == "b" ? place.secret("b") : word.contains(".") ? place.path(word) : word
            }
            let result = try run(["export", store] + paths)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try files() == before)
            if options.contains("copy.db") { #expect(try place.rows("copy.db", "b").count == 20) }
        }

        @Test func editsWithoutVersionsAreExportedAsTextAndNotAsReplicas() throws {
            try edit()
            let text = try run(["export", store, "--format", "csv", "--table", "person"])
            #expect(text.output.contains("name of 100"))
            let plain = place.path("plain.sqlite")
            #expect(try run(["export", store, "--to", plain, "--plaintext"]).status == 0)
            let refused = try run([
                "export", store, "--to", place.path("copy.db"), "--to-passphrase-file", place.secret("b"),
            ])
            #expect(refused.status == 1)
            #expect(
                refused.errors.contains("\(store): it can't be written, and has edits"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: place.path("copy.db")))
        }

        @Test func bundlesAreMadeOfWhatHasVersions() throws {
            try fold()
            let bundle = place.path("a.bundle")
            let made = try run(["bundle", "create", store, "--since-nothing", "--to", bundle, "--plaintext"])
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.output.contains("20 rows"))
            let request = place.path("a.request")
            #expect(try run(["bundle", "request", store, "--to", request, "--plaintext"]).status == 0)
        }

        @Test func aBundleOfEditsWithoutVersionsIsRefused() throws {
            try edit()
            let bundle = place.path("a.bundle")
            let refused = try run([
                "bundle", "create", store, "--since-nothing", "--to", bundle, "--plaintext",
            ])
            #expect(refused.status == 1)
            #expect(refused.errors.contains("it can't be written, and holds edits"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: bundle))
            let request = place.path("a.request")
            #expect(try run(["bundle", "request", store, "--to", request, "--plaintext"]).status == 0)
        }

        @Test func aReplicaIsMadeOfIt() throws {
            try fold()
            let result = try run([
                "clone", store, place.path("b.db"), "--to-passphrase-file", place.secret("b"),
            ])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try place.rows("b.db", "b").count == 20)
        }

        @Test(arguments: ["EROFS", "EACCES"])
        func aSynchronizationWithItIsRefusedByNameAndReason(error: String) throws {
            try place.makeReplica("b.db", "b", of: "medium/a.db", "a")
            var environment = interposer.environment(
                below: folder, fault: Fault(mode: .readOnly, call: 1), count: place.path("count"))
            environment["FAULT_ERROR"] = error
            let result = try CommandRunner.run(
                [
                    "sync", place.path("b.db"), "--remote", store, "--passphrase-file", place.secret("b"),
                    "--remote-passphrase-file", place.secret("a"),
                ], environment: environment)
            #expect(result.status == 1, "\(result.errors)")
            #expect(result.errors.contains(folder), "\(result.errors)")
            #expect(
                result.errors.contains(error == "EROFS" ? "read-only file system" : "permission denied"),
                "\(result.errors)")
        }

        @Test func changesInAWALThatCannotBeReadAreNotLeftOut() throws {
            let queue = try place.open("medium/a.db", "a")
            try StoreProbe.insert(200..<201, into: queue)
            // Somebody takes the files along while they are in use, but for the index of the WAL.
            let copy = place.path("taken")
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + "/a.db" + suffix)
            }
            try queue.close()
            let environment = interposer.environment(
                below: copy, fault: Fault(mode: .readOnly, call: 1), count: place.path("count"))
            for command in ["status", "verify"] {
                let result = try CommandRunner.run(
                    [command, copy + "/a.db", "--passphrase-file", place.secret("a")],
                    environment: environment)
                #expect(result.status == 1, "\(command): \(result.errors)")
                #expect(result.errors.contains("its latest changes are in"), "\(command): \(result.errors)")
            }
        }

        @Test(arguments: [["status"], ["log"], ["verify"], ["export", "--format", "sql"]])
        func aFullDiskKeepsNobodyFromReading(words: [String]) throws {
            let before = try files()
            let result = try run([words[0], store] + words.dropFirst(), mode: .full)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try files() == before, "nothing is left beside it")
        }
    }
#endif
