import CipherData
import Foundation
import Testing

/// The code of `Examples/Reminders`, all but what talks to a terminal.
@Suite(.timeLimit(.minutes(10))) struct RemindersTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "reminders-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func reminders(_ name: String) throws -> Reminders {
        Reminders(database: try Schema.open("\(folder)/\(name)", passphrase: Passphrase("correct horse")))
    }

    private func filled() async throws -> Reminders {
        let reminders = try reminders("reminders.db")
        try await reminders.add(["Milk", "#shop"], to: "Home")
        try await reminders.add(["Tea"], to: "home")
        try await reminders.add(["Send", "report", "#office"], to: "Work")
        return reminders
    }

    @Test func remindersAreAddedCompletedAndFound() async throws {
        let reminders = try await filled()
        #expect(
            try await reminders.lists() == [
                ListSummary(title: "Home", openCount: 2), ListSummary(title: "Work", openCount: 1),
            ])
        #expect(try await reminders.search("shop").map(\.title) == ["Milk"])
        #expect(
            try await reminders.search("e").map(\.description) == [
                "Tea (Home)", "Send report (Work) #office",
            ])
        #expect(try await reminders.complete(1)?.title == "Milk")
        #expect(try await reminders.complete(3) == nil)
        #expect(try await reminders.lists().map(\.openCount) == [1, 1])
        #expect(try await reminders.removeList("Work"))
        #expect(try await reminders.removeList("Work") == false)
        #expect(try await reminders.search("report").isEmpty)
        await #expect(throws: Problem.self) { try await reminders.add(["#shop"], to: "Home") }
    }

    @Test func theLiveViewFollows() async throws {
        let reminders = try await filled()
        let model = withDependencies {
            $0.defaultDatabase = reminders.database
        } operation: {
            RemindersModel()
        }
        #expect(model.text == "1 Milk (Home) #shop\n2 Tea (Home)\n3 Send report (Work) #office\n0 done")
        _ = try await reminders.complete(2)
        for await text in model.texts
        where text == "1 Milk (Home) #shop\n2 Send report (Work) #office\n1 done" { break }
    }

    @Test func twoStoresStayEqual() async throws {
        let reminders = try await filled()
        let path = "\(folder)/replica.db"
        try reminders.makeReplica(at: path, passphrase: Passphrase("correct horse"))
        let replica = try self.reminders("replica.db")
        #expect(try await replica.lists().map(\.openCount) == [2, 1])
        _ = try await replica.complete(1)
        try await reminders.add(["Holidays"], to: "Later")
        try await reminders.engine(path, passphrase: Passphrase("correct horse")).syncChanges()
        #expect(try await replica.lists() == reminders.lists())
        #expect(try await reminders.lists().map(\.openCount) == [1, 1, 1])
    }
}
