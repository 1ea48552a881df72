import CipherStore
import Foundation

extension NoteStore {
    /// The notes, and again whenever they change.
    func updates() -> AsyncValueObservation<[Note]> {
        ValueObservation.tracking { db in try Note.inOrder().fetchAll(db) }
            .removeDuplicates()
            .values(in: database)
    }

    /// Shows the notes whenever they change. A line that is typed becomes a note; a number ticks one.
    func converse() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await notes in updates() { Terminal.show(notes) }
            }
            for await line in Terminal.lines() {
                if let number = Int(line) {
                    _ = try await finish(number)
                } else if !line.isEmpty {
                    try await add(line)
                }
            }
            group.cancelAll()
        }
    }
}

/// What is read from the terminal and written to it.
enum Terminal {
    static func show(_ notes: [Note]) {
        let lines = notes.enumerated().map { index, note in
            "\(index + 1) [\(note.isDone ? "x" : " ")] \(note.title)"
        }
        say((lines.isEmpty ? ["no notes"] : lines).joined(separator: "\n"))
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
}
