import Testing
import TypedQueries

/// Changes that old engines run by other statements, in places where there is no other statement.
@Suite struct EmulatedChangeTests {
    @Test func anUpsertInATriggerNeedsAnEngineThatKnowsIt() throws {
        let trigger = Reminder.createTrigger(
            "kept",
            after: .delete { _ in
                RemindersList.insert {
                    ($0.id, $0.title)
                } values: {
                    (1, "kept")
                } onConflict: {
                    $0.id
                } doUpdate: {
                    $0.title = $1.title
                }
            })
        try withStore { (db) throws in
            guard EngineFeatures.current.supportsUpsert else {
                let error = #expect(throws: DatabaseError.self) { try trigger.execute(db) }
                #expect(error?.message?.contains("ON CONFLICT in a trigger") == true)
                #expect(error?.message?.contains("3.24.0") == true)
                return
            }
            try trigger.execute(db)
            try Reminder.find(3).delete().execute(db)
            let title = try RemindersList.find(1).fetchOne(db)?.title
            #expect(title == "kept")
        }
    }
}
