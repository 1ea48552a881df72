import CipherData
import Foundation

/// What the live view shows. Other processes and synchronizations change it too.
struct RemindersModel: Sendable {
    @FetchAll(
        Reminder.open.join(RemindersList.all) { $0.remindersListID.eq($1.id) }
            .select { ReminderLine.Columns(list: $1.title, title: $0.title, tags: $0.tags) })
    var open: [ReminderLine]

    @FetchOne(Reminder.where(\.isCompleted).count()) var doneCount = 0

    /// The text of the view, and again whenever it changes.
    var texts: AsyncStream<String> {
        AsyncStream { continuation in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { for await _ in $open.values { continuation.yield(text) } }
                    group.addTask { for await _ in $doneCount.values { continuation.yield(text) } }
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    var text: String {
        let lines = open.enumerated().map { index, line in "\(index + 1) \(line)" }
        return (lines + ["\(doneCount) done"]).joined(separator: "\n")
    }
}

extension ReminderLine: CustomStringConvertible {
    var description: String { ([title, "(\(list))"] + tags.map { "#\($0)" }).joined(separator: " ") }
}
