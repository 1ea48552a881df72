// Updates and deletions of the rows of a query, and what changes return.

extension Where {
    /// Updates the rows.
    ///
    /// ```swift
    /// Reminder.where { $0.isCompleted }.update { $0.title = $0.title + "!" }
    /// ```
    public func update(
        or policy: ConflictPolicy? = nil, set updates: (inout Updates<From>) -> Void
    ) -> Update<From, ()> {
        var assigned = Updates<From>()
        updates(&assigned)
        var update = Update<From, ()>(policy, assigned.assignments)
        let clauses = clauses
        update.conditions = clauses.conditions
        update.isNone = clauses.isNone
        return update
    }

    /// Deletes the rows.
    public func delete() -> Delete<From, ()> {
        let clauses = clauses
        return Delete(conditions: clauses.conditions, isNone: clauses.isNone)
    }

    /// Updates the rows from those of another table that meet a condition: `UPDATE … FROM`.
    ///
    /// ```swift
    /// Reminder.all.update(from: RemindersList.all) { $0.listID.eq($1.id) } set: { $0.title = $1.title }
    /// ```
    ///
    /// When several rows of the other table meet the condition, one of them is taken, whatever the order of its query. SQLite
    /// before 3.33 gets subqueries instead. There, a statement throws that takes values from columns of the same table to which it
    /// assigns, or from a view of it: it would take those that it has assigned already. It takes what triggers of the table write to
    /// the other one meanwhile, and in a trigger what a view gives.
    ///
    /// - parameters:
    ///     - policy: What happens to rows in the way.
    ///     - other: A query of the other table.
    ///     - constraint: Which of its rows belongs to which row.
    ///     - updates: What is assigned.
    public func update<Other: Table>(
        or policy: ConflictPolicy? = nil, from other: some SelectStatement<(), Other, NoJoins>,
        on constraint: (From.TableColumns, Other.TableColumns) -> some QueryExpression<Bool>,
        set updates: (inout Updates<From>, Other.TableColumns) -> Void
    ) -> Update<From, ()> {
        var assigned = Updates<From>()
        let isNative = EngineFeatures.current.sqliteVersionNumber >= 3_033_000
        let otherClauses = other.asSelect().clauses
        var condition = FragmentList(constraint(From.columns, Other.columns).queryFragment)
        let source = otherClauses.rowSource(of: Other.self, &condition)
        let subquery = FromSubquery(source, condition)
        if !isNative { assigned.joined = JoinedAssignments(subquery) }
        updates(&assigned, Other.columns)
        if let joined = assigned.joined {
            joined.write(to: &assigned.assignments)
            assigned.assignments.markOwnViews()
            // The subquery would read what was written to rows before.
            if assigned.assignments.rereads(joined.columns, of: From.self) {
                assigned.assignments.require(.updateFromItself)
            }
        }
        var update = Update<From, ()>(policy, assigned.assignments)
        let clauses = clauses
        update.conditions = clauses.conditions
        update.isNone = clauses.isNone || otherClauses.isNone
        if isNative {
            update.source = source
            update.conditions.append(condition)
        } else {
            var exists = QueryFragment("EXISTS ")
            exists.append(subquery.selecting("1"))
            update.conditions.append(exists)
        }
        return update
    }
}

extension SelectClauses {
    /// What stands behind FROM for the rows of the statement: the table, when they are those that meet its conditions, and a
    /// subquery when other clauses choose or make them.
    ///
    /// - parameters:
    ///     - type: The table.
    ///     - conditions: Gets the statement's conditions on the table.
    fileprivate func rowSource<From: Table>(
        of type: From.Type, _ conditions: inout FragmentList
    ) -> QueryFragment {
        var fragment = QueryFragment()
        let isTable =
            !isDistinct && commonTables.isEmpty && joins.isEmpty && groups.isEmpty && groupConditions.isEmpty
            && limit.isEmpty
        guard !isTable else {
            if let call = conditionOfSource, !EngineChoice.outerTableArguments.isSupported {
                fragment.append(call.table)
                conditions.append(call.condition)
            } else {
                writeSource(of: type, to: &fragment)
            }
            conditions.append(self.conditions)
            return fragment
        }
        fragment.append(literal: "(\n")
        write(from: type, to: &fragment)
        fragment.append(literal: "\n) AS ")
        // The columns are called as those of the table.
        fragment.append(tableOf: type)
        return fragment
    }
}

extension Table {
    /// Updates all rows.
    public static func update(
        or policy: ConflictPolicy? = nil, set updates: (inout Updates<Self>) -> Void
    ) -> Update<Self, ()> {
        Where<Self>().update(or: policy, set: updates)
    }

    /// Updates the rows from those of another table that meet a condition: `UPDATE … FROM`.
    public static func update<Other: Table>(
        or policy: ConflictPolicy? = nil, from other: some SelectStatement<(), Other, NoJoins>,
        on constraint: (TableColumns, Other.TableColumns) -> some QueryExpression<Bool>,
        set updates: (inout Updates<Self>, Other.TableColumns) -> Void
    ) -> Update<Self, ()> {
        Where<Self>().update(or: policy, from: other, on: constraint, set: updates)
    }

    /// Deletes all rows.
    public static func delete() -> Delete<Self, ()> { Where<Self>().delete() }
}
