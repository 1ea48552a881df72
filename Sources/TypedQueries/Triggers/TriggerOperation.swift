/// The name of a row as it is after a change, in a trigger.
public enum NewRowName: AliasName {
    /// The name that SQLite gives it.
    public static var aliasName: String { "new" }
}

/// The name of a row as it was before a change, in a trigger.
public enum OldRowName: AliasName {
    /// The name that SQLite gives it.
    public static var aliasName: String { "old" }
}

/// The row as it is after a change, in a trigger.
public typealias NewRow<On: Table> = TableAlias<On, NewRowName>

/// The row as it was before a change, in a trigger.
public typealias OldRow<On: Table> = TableAlias<On, OldRowName>

/// A row that a trigger runs for. Its columns are values there.
protocol TriggerRow {}

/// The name of such a row.
protocol TriggerRowName: AliasName {}

extension NewRowName: TriggerRowName {}

extension OldRowName: TriggerRowName {}

extension TableAlias: TriggerRow where Name: TriggerRowName {}

/// Which changes of a table a trigger is about, and what it does then.
///
/// ```swift
/// .insert { new in Log.insert { ($0.listID, $0.what) } select: { … } } when: { new in new.title.eq("") }
/// .update(of: { $0.title }) { old, new in … }
/// .delete { old in Reminder.where { $0.listID.eq(old.id) }.delete() }
/// .update(touch: \.updatedAt)
/// ```
public struct TriggerOperation<On: Table>: Sendable {
    /// What the default name says.
    let kind: StaticString
    /// `INSERT`, `UPDATE OF "a", "b"` or `DELETE`.
    let event: QueryFragment
    /// The statements.
    let body: FragmentList
    /// When the statements run.
    let condition: FragmentList

    /// The columns of the row after the change.
    public typealias New = NewRow<On>.TableColumns
    /// The columns of the row before the change.
    public typealias Old = OldRow<On>.TableColumns

    /// After or before a row is inserted.
    ///
    /// - parameters:
    ///     - statements: The statements, which know the row.
    ///     - condition: For which rows they run.
    public static func insert(
        @TriggerBodyBuilder forEachRow statements: (_ new: New) -> FragmentList,
        @QueryFragmentBuilder<Bool> when condition: (_ new: New) -> FragmentList = { _ in FragmentList() }
    ) -> Self {
        Self(kind: "insert", event: "INSERT", body: statements(New()), condition: condition(New()))
    }

    /// After or before a row is deleted.
    ///
    /// - parameters:
    ///     - statements: The statements, which know the row.
    ///     - condition: For which rows they run.
    public static func delete(
        @TriggerBodyBuilder forEachRow statements: (_ old: Old) -> FragmentList,
        @QueryFragmentBuilder<Bool> when condition: (_ old: Old) -> FragmentList = { _ in FragmentList() }
    ) -> Self {
        Self(kind: "delete", event: "DELETE", body: statements(Old()), condition: condition(Old()))
    }

    /// After or before a row is updated.
    ///
    /// - parameters:
    ///     - statements: The statements, which know the row as it was and as it is.
    ///     - condition: For which rows they run.
    public static func update(
        @TriggerBodyBuilder forEachRow statements: (_ old: Old, _ new: New) -> FragmentList,
        @QueryFragmentBuilder<Bool> when condition: (_ old: Old, _ new: New) -> FragmentList = { _, _ in
            FragmentList()
        }
    ) -> Self {
        Self(
            kind: "update", event: "UPDATE", body: statements(Old(), New()),
            condition: condition(Old(), New()))
    }

    /// After or before certain columns of a row are updated, even to what they were.
    ///
    /// - parameters:
    ///     - columns: The columns.
    ///     - statements: The statements, which know the row as it was and as it is.
    ///     - condition: For which rows they run.
    public static func update<each Column: TableColumnExpression>(
        of columns: (On.TableColumns) -> (repeat each Column),
        @TriggerBodyBuilder forEachRow statements: (_ old: Old, _ new: New) -> FragmentList,
        @QueryFragmentBuilder<Bool> when condition: (_ old: Old, _ new: New) -> FragmentList = { _, _ in
            FragmentList()
        }
    ) -> Self {
        var event = QueryFragment("UPDATE OF ")
        var isFirst = true
        let chosen = columns(On.columns)
        for column in repeat each chosen {
            for name in column.queryColumnNames {
                if !isFirst { event.append(literal: ", ") }
                isFirst = false
                event.append(identifier: name)
            }
        }
        return Self(
            kind: "update", event: event, body: statements(Old(), New()), condition: condition(Old(), New()))
    }
}

extension TriggerOperation {
    /// Changes the row that was inserted. Making the trigger throws when columns hide the number by which it finds the row
    /// (``RowID``).
    ///
    /// ```swift
    /// .insert(touch: { $0.createdAt = .now() })
    /// ```
    ///
    /// - parameters:
    ///     - updates: What is assigned.
    ///     - condition: For which rows.
    @_disfavoredOverload
    public static func insert(
        touch updates: (inout Updates<On>) -> Void,
        @QueryFragmentBuilder<Bool> when condition: (_ new: New) -> FragmentList = { _ in FragmentList() }
    ) -> Self {
        Self(kind: "insert", event: "INSERT", body: touching(updates), condition: condition(New()))
    }

    /// Sets a date of the row that was inserted to the current time.
    ///
    /// - parameters:
    ///     - date: The column.
    ///     - condition: For which rows.
    public static func insert<Storage: DateStorage>(
        touch date: KeyPath<On.TableColumns, TableColumn<On, Storage>>,
        @QueryFragmentBuilder<Bool> when condition: (_ new: New) -> FragmentList = { _ in FragmentList() }
    ) -> Self {
        insert(
            touch: { $0.setColumn(On.columns[keyPath: date], CurrentDateExpression<Storage>()) },
            when: condition)
    }

    /// Changes the row that was updated. What the trigger changes does not run it again, unless
    /// `PRAGMA recursive_triggers` is on. Making the trigger throws when columns hide the number by which it finds the row
    /// (``RowID``).
    ///
    /// - parameters:
    ///     - updates: What is assigned.
    ///     - condition: For which rows.
    @_disfavoredOverload
    public static func update(
        touch updates: (inout Updates<On>) -> Void,
        @QueryFragmentBuilder<Bool> when condition: (_ old: Old, _ new: New) -> FragmentList = { _, _ in
            FragmentList()
        }
    ) -> Self {
        Self(kind: "update", event: "UPDATE", body: touching(updates), condition: condition(Old(), New()))
    }

    /// Sets a date of the row that was updated to the current time.
    ///
    /// ```swift
    /// Reminder.createTemporaryTrigger(after: .update(touch: \.updatedAt))
    /// // … AFTER UPDATE ON "reminders" FOR EACH ROW BEGIN
    /// //     UPDATE "reminders" SET "updatedAt" = strftime('%Y-%m-%d %H:%M:%f', 'now')
    /// //     WHERE "reminders"."rowid" = "new"."rowid";
    /// // END
    /// ```
    ///
    /// - parameters:
    ///     - date: The column.
    ///     - condition: For which rows.
    public static func update<Storage: DateStorage>(
        touch date: KeyPath<On.TableColumns, TableColumn<On, Storage>>,
        @QueryFragmentBuilder<Bool> when condition: (_ old: Old, _ new: New) -> FragmentList = { _, _ in
            FragmentList()
        }
    ) -> Self {
        update(
            touch: { $0.setColumn(On.columns[keyPath: date], CurrentDateExpression<Storage>()) },
            when: condition)
    }

    /// An update of the row itself.
    private static func touching(_ updates: (inout Updates<On>) -> Void) -> FragmentList {
        let update = Where<On>(scope: .unscoped).update(set: updates).where { _ in
            Comparison<_, _, Bool>(RowID<On>(), " = ", RowID<NewRow<On>>())
        }
        return FragmentList(update.query)
    }
}

/// Collects the statements of a trigger.
@resultBuilder
public enum TriggerBodyBuilder {
    /// A statement.
    public static func buildExpression(_ statement: some Statement) -> FragmentList {
        FragmentList(statement.query)
    }
    /// Nothing.
    public static func buildBlock() -> FragmentList { FragmentList() }
    /// The first.
    public static func buildPartialBlock(first: FragmentList) -> FragmentList { first }
    /// One more.
    public static func buildPartialBlock(accumulated: FragmentList, next: FragmentList) -> FragmentList {
        var list = accumulated
        list.append(next)
        return list
    }
    /// Those of a condition that is met.
    public static func buildEither(first component: FragmentList) -> FragmentList { component }
    /// Those of a condition that is not met.
    public static func buildEither(second component: FragmentList) -> FragmentList { component }
    /// Those of a condition, or nothing.
    public static func buildOptional(_ component: FragmentList?) -> FragmentList {
        component ?? FragmentList()
    }
    /// Those of a loop.
    public static func buildArray(_ components: [FragmentList]) -> FragmentList {
        components.reduce(into: FragmentList()) { $0.append($1) }
    }
}
