/// A request that is ready to run.
public struct PreparedRequest {
    /// The statement, with its arguments.
    public var statement: Statement

    /// How the rows of the statement are presented, or nil for as they are.
    public var adapter: (any RowAdapter)?

    /// Completes the fetched rows, which are copies, with the rows of other
    /// requests, or nil when there is nothing to add.
    var completion: ((_ db: Database, _ rows: [Row]) throws -> Void)?

    /// Makes a request of a statement.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }

    /// Makes a request whose rows are completed after they were fetched.
    init(
        statement: Statement, adapter: (any RowAdapter)? = nil,
        completion: ((_ db: Database, _ rows: [Row]) throws -> Void)?
    ) {
        self.init(statement: statement, adapter: adapter)
        self.completion = completion
    }
}

@available(*, unavailable)
extension PreparedRequest: Sendable {}
