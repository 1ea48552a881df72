/// A statement that creates a trigger.
///
/// Values in it are written as literals, because SQLite takes no parameters in a schema. The tables that it changes are
/// written without the names of their databases, which SQLite does not take there: it changes those of the trigger's own
/// database, and a temporary trigger the first that has the name.
public struct Trigger<On: Table>: WritableStatement {
    /// It gives no rows.
    public typealias QueryValue = ()
    /// The table.
    public typealias From = On
    /// It gives no rows.
    public typealias Joins = NoRows

    /// The name.
    public let name: String
    let isTemporary: Bool
    let ifNotExists: Bool
    let moment: Moment
    let operation: TriggerOperation<On>

    /// When the statements run.
    enum Moment: Sendable {
        case before
        case after
        case insteadOf
    }

    /// Adds the statement.
    public func writeStatement(to fragment: inout QueryFragment) {
        fragment.append(sql: isTemporary ? "CREATE TEMPORARY TRIGGER" : "CREATE TRIGGER")
        fragment.append(sql: ifNotExists ? " IF NOT EXISTS\n  " : "\n  ")
        writeName(to: &fragment)
        switch moment {
        case .before: fragment.append(literal: "\nBEFORE ")
        case .after: fragment.append(literal: "\nAFTER ")
        case .insteadOf: fragment.append(literal: "\nINSTEAD OF ")
        }
        fragment.append(operation.event)
        fragment.append(literal: " ON ")
        fragment.append(identifier: On.tableName)
        fragment.append(literal: "\nFOR EACH ROW")
        if !operation.condition.isEmpty {
            var condition = QueryFragment()
            operation.condition.writeConjunction(to: &condition)
            fragment.append(literal: " WHEN ")
            fragment.append(schemaText: condition)
        }
        fragment.append(literal: " BEGIN\n  ")
        // SQLite takes no trigger without a statement.
        let statements: [QueryFragment] =
            operation.body.isEmpty ? ["SELECT NULL WHERE 0"] : operation.body.pieces
        for statement in statements {
            fragment.append(schemaText: statement.withUnqualifiedTarget)
            fragment.append(literal: ";\n")
        }
        fragment.append(literal: "END")
    }

    private func writeName(to fragment: inout QueryFragment) {
        // A trigger is where its table is, unless it is temporary.
        if !isTemporary, let schema = On.schemaName {
            fragment.append(identifier: schema)
            fragment.append(literal: ".")
        }
        fragment.append(identifier: name)
    }

    /// A statement that removes the trigger.
    ///
    /// - parameter ifExists: Whether a trigger that is not there is no error.
    public func drop(ifExists: Bool = false) -> SQLQueryExpression<()> {
        var fragment = QueryFragment()
        fragment.append(sql: ifExists ? "DROP TRIGGER IF EXISTS " : "DROP TRIGGER ")
        writeName(to: &fragment)
        return SQLQueryExpression(fragment)
    }

    /// Whether the two have the same SQL.
    public static func == (left: Self, right: Self) -> Bool { left.query == right.query }

    /// Feeds the SQL to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(query) }
}

extension Table {
    /// A trigger of this connection, which ends with it.
    ///
    /// ```swift
    /// try Reminder.createTemporaryTrigger(after: .insert { new in
    ///     Reminder.where { $0.id.eq(new.id) }.update { $0.position = 1 }
    /// }).execute(db)
    /// ```
    ///
    /// - parameters:
    ///     - name: The name; by default it is made of the change, the table, and the place of the call.
    ///     - ifNotExists: Whether a trigger of the name that is there stays.
    ///     - operation: The change, and what the trigger does after it.
    ///     - fileID: The file of the call.
    ///     - line: The line of the call.
    ///     - column: The column of the call.
    public static func createTemporaryTrigger(
        _ name: String? = nil, ifNotExists: Bool = false, after operation: TriggerOperation<Self>,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        trigger(name, true, ifNotExists, .after, operation, (fileID, line, column))
    }

    /// A trigger of this connection that runs before a change.
    public static func createTemporaryTrigger(
        _ name: String? = nil, ifNotExists: Bool = false, before operation: TriggerOperation<Self>,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        trigger(name, true, ifNotExists, .before, operation, (fileID, line, column))
    }

    /// A trigger of this connection that runs instead of a change of a view.
    public static func createTemporaryTrigger(
        _ name: String? = nil, ifNotExists: Bool = false, insteadOf operation: TriggerOperation<Self>,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        trigger(name, true, ifNotExists, .insteadOf, operation, (fileID, line, column))
    }

    /// A trigger that stays in the database, for all connections and processes.
    ///
    /// Give it a name that stays, and create it in a migration: the statement is frozen there. It may call functions
    /// that every connection to the file has, and that are innocuous.
    ///
    /// - parameters:
    ///     - name: The name.
    ///     - ifNotExists: Whether a trigger of the name that is there stays.
    ///     - operation: The change, and what the trigger does after it.
    public static func createTrigger(
        _ name: String, ifNotExists: Bool = false, after operation: TriggerOperation<Self>
    ) -> Trigger<Self> {
        trigger(name, false, ifNotExists, .after, operation)
    }

    /// A trigger that stays in the database and runs before a change.
    public static func createTrigger(
        _ name: String, ifNotExists: Bool = false, before operation: TriggerOperation<Self>
    ) -> Trigger<Self> {
        trigger(name, false, ifNotExists, .before, operation)
    }

    /// A trigger that stays in the database and runs instead of a change of a view.
    public static func createTrigger(
        _ name: String, ifNotExists: Bool = false, insteadOf operation: TriggerOperation<Self>
    ) -> Trigger<Self> {
        trigger(name, false, ifNotExists, .insteadOf, operation)
    }

    private static func trigger(
        _ name: String?, _ isTemporary: Bool, _ ifNotExists: Bool, _ moment: Trigger<Self>.Moment,
        _ operation: TriggerOperation<Self>,
        _ place: (fileID: StaticString, line: UInt, column: UInt) = ("", 0, 0)
    ) -> Trigger<Self> {
        let word =
            switch moment {
            case .before: "before"
            case .after: "after"
            case .insteadOf: "instead_of"
            }
        let standard =
            "\(word)_\(operation.kind)_on_\(tableName)@\(place.fileID):\(place.line):\(place.column)"
        return Trigger(
            name: name ?? standard, isTemporary: isTemporary, ifNotExists: ifNotExists, moment: moment,
            operation: operation)
    }
}
