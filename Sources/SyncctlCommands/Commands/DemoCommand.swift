import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// A guided tour with two stores in a temporary folder.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show two encrypted stores synchronize, in a temporary folder.",
        discussion: """
            EXAMPLE:
              syncctl demo --keep
            """)

    @Flag(help: "Keep the folder with the stores.")
    var keep = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let folder = NSTemporaryDirectory() + "syncctl-demo-\(UUID.v7().uuidString.lowercased())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { if !keep { try? FileManager.default.removeItem(atPath: folder) } }
            try Tour(folder: folder, context: context).run()
            if keep {
                context.note("the stores are in \(folder); their passphrases are \"demo\" and \"demo two\"")
            }
            return .success
        }
    }
}

/// The steps of the tour. Each does what the command shown with it would do.
private struct Tour {
    let folder: String
    let context: CommandContext

    private var laptop: String { folder + "/laptop.db" }
    private var phone: String { folder + "/phone.db" }

    private func say(_ text: String) throws {
        try context.terminal.writeOutput("\n" + context.terminal.outputStyle.bold(text))
    }

    private func show(_ command: String) throws {
        try context.terminal.writeOutput(context.terminal.outputStyle.dim("$ " + command))
    }

    private func open(_ path: String, _ passphrase: String, isNew: Bool = false) throws -> DatabaseQueue {
        var configuration = context.configuration(Secret(try Passphrase(passphrase)))
        configuration.requiresExistingFile = !isNew
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    func run() throws {
        let (queue, synchronizer) = try makeStore()
        let other = try makeReplica(synchronizer)
        try edit(queue, other)
        let remote = StoreTransport(
            path: phone, configuration: context.configuration(Secret(try Passphrase("demo two"))))
        try exchange(synchronizer, remote)
        try compare(queue, other)
        try showLog(synchronizer)
        try queue.close()
        try showEncryption()
    }

    private func makeStore() throws -> (DatabaseQueue, Synchronizer) {
        try say("1. An encrypted store with a tracked table")
        try show("syncctl init laptop.db --passphrase-file pw; syncctl track laptop.db note")
        let queue = try open(laptop, "demo", isNew: true)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT, body TEXT)")
            for title in ["Groceries", "Holidays", "Ideas"] {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [UUID.v7(), title, "first draft"])
            }
        }
        let synchronizer = try Synchronizer(queue, tables: ["note"])
        try printNotes("laptop", queue)
        return (queue, synchronizer)
    }

    private func makeReplica(_ synchronizer: Synchronizer) throws -> DatabaseQueue {
        try say("2. A replica with a passphrase of its own")
        try show("syncctl init phone.db --passphrase-file pw2 --clone laptop.db --clone-passphrase-file pw")
        try synchronizer.clone(to: phone, passphrase: Passphrase("demo two"))
        let queue = try open(phone, "demo two")
        try context.terminal.writeOutput("phone.db holds the same notes, under another key")
        return queue
    }

    private func edit(_ queue: DatabaseQueue, _ other: DatabaseQueue) throws {
        try say("3. Both are edited while they are apart")
        try queue.write { db in
            try db.execute(sql: "UPDATE note SET title = 'Groceries for Sunday' WHERE title = 'Groceries'")
            try db.execute(sql: "UPDATE note SET body = 'to the sea' WHERE title = 'Holidays'")
            try db.execute(sql: "DELETE FROM note WHERE title = 'Ideas'")
        }
        // A moment later, so that the last writer is the same in every tour.
        Thread.sleep(forTimeInterval: 0.01)
        try other.write { db in
            try db.execute(sql: "UPDATE note SET body = 'milk, bread' WHERE title = 'Groceries'")
            try db.execute(sql: "UPDATE note SET body = 'to the mountains' WHERE title = 'Holidays'")
            try db.execute(
                sql: "INSERT INTO note VALUES (?, 'Books', 'a list')", arguments: [UUID.v7()])
        }
        try printNotes("laptop", queue)
        try printNotes("phone", other)
    }

    private func exchange(_ synchronizer: Synchronizer, _ remote: StoreTransport) throws {
        try say("4. They synchronize")
        try show("syncctl sync laptop.db --remote phone.db")
        let report = try synchronizer.run(.both, remote)
        try context.terminal.writeOutput(
            """
            pulled \(HumanFormat.count(Int(report.pulled?.rowCount ?? 0), "row")), \
            pushed \(HumanFormat.count(Int(report.pushed?.rowCount ?? 0), "row")), \
            \(ExchangeText.conflicts(report.conflictCount))
            """)
    }

    private func compare(_ queue: DatabaseQueue, _ other: DatabaseQueue) throws {
        try say("5. Both hold the same rows: edits of different columns are merged")
        try printNotes("laptop", queue)
        try printNotes("phone", other)
        let sql = "SELECT group_concat(hex(id) || title || body) FROM (SELECT * FROM note ORDER BY id)"
        let left = try queue.read { try String.fetchOne($0, sql: sql) }
        let right = try other.read { try String.fetchOne($0, sql: sql) }
        guard left == right else { throw Failure("the two stores differ: this must never happen") }
    }

    private func showLog(_ synchronizer: Synchronizer) throws {
        try say("6. Who changed what")
        try show("syncctl log laptop.db --limit 5")
        var table = Table([.text("BY"), .text("CHANGE"), .text("TABLE"), .text("COLUMNS")], indent: 2)
        for entry in try synchronizer.history(limit: 5) {
            table.addRow([
                .init(entry.isLocal ? "laptop" : "phone"), .init(entry.operation.rawValue),
                .init(entry.table),
                .init(entry.columns.joined(separator: ", ")),
            ])
        }
        try context.terminal.writeOutput(table.text(style: context.terminal.outputStyle))
    }

    private func showEncryption() throws {
        try say("7. Nothing of it can be read without the passphrase")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: laptop))
        guard bytes.range(of: Data("Groceries".utf8)) == nil else {
            throw Failure("the store holds plaintext: this must never happen")
        }
        let start = bytes.prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        try context.terminal.writeOutput(
            "laptop.db: \(HumanFormat.bytes(bytes.count)) that begin with \(start.joined(separator: " "))")
    }

    private func printNotes(_ name: String, _ queue: DatabaseQueue) throws {
        var table = Table([.text(name), .text("")], indent: 2)
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT title, body FROM note ORDER BY title") }
        for row in rows {
            table.addRow([
                .init(try row.decode(String.self, atIndex: 0)),
                .init(try row.decode(String.self, atIndex: 1)),
            ])
        }
        try context.terminal.writeOutput(table.text(style: context.terminal.outputStyle))
    }
}
