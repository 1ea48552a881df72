/// The plans of a connection.
final class RecordPlans {
    private var plans: [ObjectIdentifier: RecordPlan] = [:]
    @exclusivity(unchecked) private var last: (type: ObjectIdentifier, plan: RecordPlan)?

    /// The queries for one record by its key.
    let keyQueries = KeyQueries()

    /// Whether upserts and `RETURNING` are done by other statements. They are
    /// where the engine lacks one of the two.
    var emulatesReturning = !EngineFeatures.current.supportsReturning

    func plan<Record: EncodableRecord & TableRecord>(
        _ db: Database, for type: Record.Type
    ) throws -> RecordPlan {
        db.noticeSchemaChange()
        let identifier = ObjectIdentifier(type)
        if let last, last.type == identifier, last.plan.tableName == type.databaseTableName {
            return last.plan
        }
        var plan = plans[identifier]
        if plan == nil || plan?.tableName != type.databaseTableName { plan = try RecordPlan(db, type) }
        guard let plan else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        plans[identifier] = plan
        last = (identifier, plan)
        return plan
    }

    func removeAll() {
        plans.removeAll()
        last = nil
        keyQueries.removeAll()
    }
}

extension Database {
    /// Whether upserts and `RETURNING` are done by other statements, which
    /// tests force to compare the two.
    package var emulatesReturning: Bool {
        get { recordPlans.emulatesReturning }
        set { recordPlans.emulatesReturning = newValue }
    }
}
