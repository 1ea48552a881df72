import CipherData
import Foundation

@main
struct RemindersApp {
    static let usage = """
        usage: reminders add LIST TITLE [#TAG…] | done NUMBER | lists | remove LIST | search TEXT
                         live [REPLICA] | replica FILE | sync REPLICA
        REMINDERS_FILE names the store, REMINDERS_PASSPHRASE_FILE the file with its passphrase.
        In a live view, a line 'LIST: TITLE' is added, and a number is done.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("reminders: \(explain(error))\n".utf8))
            exit(1)
        }
    }

    static func run(_ words: [String]) async throws {
        guard let command = words.first else { return say(usage) }
        let passphrase = try passphrase()
        let database = try Schema.open(path, passphrase: passphrase)
        prepareDependencies { $0.defaultDatabase = database }
        let reminders = Reminders(database: database)
        let arguments = Array(words.dropFirst())
        switch (command, arguments.count) {
        case ("add", 2...): try await reminders.add(Array(arguments.dropFirst()), to: arguments[0])
        case ("done", 1): try await complete(arguments[0], of: reminders)
        case ("lists", 0): for list in try await reminders.lists() { say("\(list.title): \(list.openCount)") }
        case ("remove", 1):
            guard try await reminders.removeList(arguments[0]) else { throw Problem("there is no such list") }
        case ("search", 1): for line in try await reminders.search(arguments[0]) { say("\(line)") }
        case ("live", 0): try await live(reminders)
        case ("live", 1):
            let engine = try reminders.engine(arguments[0], passphrase: passphrase)
            try await engine.start()
            try await live(reminders)
            engine.stop()
            try await engine.syncChanges()
        case ("replica", 1): try reminders.makeReplica(at: arguments[0], passphrase: passphrase)
        case ("sync", 1): try await reminders.engine(arguments[0], passphrase: passphrase).syncChanges()
        default: throw Problem(usage)
        }
    }

    /// Shows the open reminders whenever they change, and takes lines until the input ends.
    static func live(_ reminders: Reminders) async throws {
        let model = RemindersModel()
        let showing = Task {
            var shown = ""
            for await text in model.texts where text != shown {
                shown = text
                say(text)
            }
        }
        defer { showing.cancel() }
        for await line in lines() {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            do {
                if parts.count == 2 {
                    try await reminders.add(parts[1].split(separator: " ").map(String.init), to: parts[0])
                } else if !line.isEmpty {
                    try await complete(line, of: reminders)
                }
            } catch {
                say(explain(error))
            }
        }
    }

    static func complete(_ text: String, of reminders: Reminders) async throws {
        guard let number = Int(text), let reminder = try await reminders.complete(number) else {
            throw Problem("there is no open reminder \(text)")
        }
        say("done: \(reminder.title)")
    }

    // MARK: Settings and the terminal

    static var path: String { ProcessInfo.processInfo.environment["REMINDERS_FILE"] ?? "reminders.db" }

    /// A passphrase is no argument: others would see it in the list of processes.
    static func passphrase() throws -> Passphrase {
        guard let file = ProcessInfo.processInfo.environment["REMINDERS_PASSPHRASE_FILE"] else {
            throw Problem("REMINDERS_PASSPHRASE_FILE has to name a file with the passphrase")
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try Passphrase(text.trimmingCharacters(in: .newlines))
    }

    static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    /// The lines that are typed. Reading blocks, so a thread of its own does it.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// Words for the errors that a user can do something about.
    static func explain(_ error: any Error) -> String {
        switch StoreError(error)?.code {
        case .wrongPassphrase: "the passphrase does not open the reminders"
        case .plaintext: "the file is not encrypted; it is not one of ours"
        default: "\(error)"
        }
    }
}
