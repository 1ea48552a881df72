import CipherStore
import Foundation
import SyncHTTP

@main
struct NotesApp {
    static let usage = """
        usage: notes add TITLE | done NUMBER | list | watch | share [PORT] | join LINK | live
        NOTES_FILE names the store, NOTES_PASSPHRASE_FILE the file with its passphrase.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("notes: \(explain(error))\n".utf8))
            exit(1)
        }
    }

    static func run(_ words: [String]) async throws {
        guard let command = words.first else { return Terminal.say(usage) }
        let passphrase = try passphrase()
        if command == "join" {
            guard let link = words.dropFirst().first.flatMap(InviteLink.init) else {
                throw Problem("join takes the link that 'notes share' printed")
            }
            try NoteStore.join(link, at: path, passphrase: passphrase)
            return Terminal.say("joined; now try: notes live")
        }
        let store = try NoteStore(path: path, passphrase: passphrase)
        switch (command, words.dropFirst().joined(separator: " ")) {
        case ("add", let title) where !title.isEmpty: try await store.add(title)
        case ("done", let text):
            guard let number = Int(text), try await store.finish(number) != nil else {
                throw Problem("there is no note \(text)")
            }
        case ("list", ""): Terminal.show(try await store.notes())
        case ("watch", ""): try await store.converse()
        case ("share", let port): try await share(store, port: Int(port) ?? 7788)
        case ("live", ""):
            let live = try store.synchronizeLive()
            try await store.converse()
            live.stop()
        default: throw Problem(usage)
        }
    }

    /// Serves and converses, until the input ends.
    static func share(_ store: NoteStore, port: Int) async throws {
        let serving = Task {
            try await store.serve(port: port, label: "device \(Int.random(in: 1...9999))") { link in
                Terminal.say("join with: notes join \(link)")
            }
        }
        try await store.converse()
        serving.cancel()
    }

    // MARK: Settings

    static var path: String { ProcessInfo.processInfo.environment["NOTES_FILE"] ?? "notes.db" }

    /// A passphrase is no argument: others would see it in the list of processes.
    static func passphrase() throws -> Passphrase {
        guard let file = ProcessInfo.processInfo.environment["NOTES_PASSPHRASE_FILE"] else {
            throw Problem("NOTES_PASSPHRASE_FILE has to name a file with the passphrase")
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try Passphrase(text.trimmingCharacters(in: .newlines))
    }

    /// Words for the errors that a user can do something about.
    static func explain(_ error: any Error) -> String {
        switch StoreError(error)?.code {
        case .wrongPassphrase: "the passphrase does not open the notes"
        case .plaintext: "the file is not encrypted; it is not one of ours"
        default: "\(error)"
        }
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
