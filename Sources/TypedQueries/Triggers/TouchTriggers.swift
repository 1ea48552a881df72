// Triggers that change the row itself, in one word: `createTemporaryTrigger(afterUpdateTouch: \.updatedAt)`.

extension Table {
    /// A trigger of this connection that changes each row that was inserted.
    public static func createTemporaryTrigger(
        _ name: String? = nil, ifNotExists: Bool = false,
        afterInsertTouch updates: (inout Updates<Self>) -> Void,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        createTemporaryTrigger(
            name, ifNotExists: ifNotExists, after: .insert(touch: updates), fileID: fileID, line: line,
            column: column)
    }

    /// A trigger of this connection that sets a date of each row that was inserted.
    ///
    /// - parameters:
    ///     - name: The name; by default it is made of the change, the table, and the place of the call.
    ///     - ifNotExists: Whether a trigger of the name that is there stays.
    ///     - date: The column.
    ///     - expression: The date; by default the current time.
    ///     - fileID: The file of the call.
    ///     - line: The line of the call.
    ///     - column: The column of the call.
    public static func createTemporaryTrigger<Storage: DateStorage>(
        _ name: String? = nil, ifNotExists: Bool = false,
        afterInsertTouch date: KeyPath<TableColumns, TableColumn<Self, Storage>>,
        date expression: any QueryExpression<Storage> = CurrentDateExpression<Storage>(),
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        createTemporaryTrigger(
            name, ifNotExists: ifNotExists,
            afterInsertTouch: { $0.setColumn(columns[keyPath: date], expression) },
            fileID: fileID, line: line, column: column)
    }

    /// A trigger of this connection that changes each row that was updated.
    ///
    /// ```swift
    /// RemindersList.createTemporaryTrigger(afterUpdateTouch: { $0.revision += 1 })
    /// ```
    public static func createTemporaryTrigger(
        _ name: String? = nil, ifNotExists: Bool = false,
        afterUpdateTouch updates: (inout Updates<Self>) -> Void,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        createTemporaryTrigger(
            name, ifNotExists: ifNotExists, after: .update(touch: updates), fileID: fileID, line: line,
            column: column)
    }

    /// A trigger of this connection that sets a date of each row that was updated.
    ///
    /// ```swift
    /// Reminder.createTemporaryTrigger(afterUpdateTouch: \.updatedAt)
    /// ```
    ///
    /// - parameters:
    ///     - name: The name; by default it is made of the change, the table, and the place of the call.
    ///     - ifNotExists: Whether a trigger of the name that is there stays.
    ///     - date: The column.
    ///     - expression: The date; by default the current time.
    ///     - fileID: The file of the call.
    ///     - line: The line of the call.
    ///     - column: The column of the call.
    public static func createTemporaryTrigger<Storage: DateStorage>(
        _ name: String? = nil, ifNotExists: Bool = false,
        afterUpdateTouch date: KeyPath<TableColumns, TableColumn<Self, Storage>>,
        date expression: any QueryExpression<Storage> = CurrentDateExpression<Storage>(),
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Trigger<Self> {
        createTemporaryTrigger(
            name, ifNotExists: ifNotExists,
            afterUpdateTouch: { $0.setColumn(columns[keyPath: date], expression) },
            fileID: fileID, line: line, column: column)
    }
}
