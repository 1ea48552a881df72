/// A statement with its values.
struct PostgresCall {
    let statement: PostgresStatement
    let values: [PostgresValue]

    init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
        self.statement = statement
        self.values = values
    }
}

extension PostgresConnection {
    /// Runs statements one after the other, and waits for the server once where libpq can do that.
    ///
    /// When one is refused, those after it are not run.
    ///
    /// - returns: A result for each.
    /// - throws: ``PostgresFailure``: the first one.
    func run(together calls: [PostgresCall], until deadline: Deadline) throws -> [PostgresResult] {
        // The server prepares a statement in a pipeline too. But then it may be prepared and the failure of one before it
        // be told, so the first time they go alone.
        let areKnown = calls.allSatisfy { prepared.contains($0.statement.name) }
        guard calls.count > 1, areKnown, let pipeline = library.pipeline else {
            return try calls.map { try run($0.statement, $0.values, until: deadline) }
        }
        try requireUsable()
        guard pipeline.enter(handle) == 1 else { throw fail(.connectionLost) }
        for call in calls {
            precondition(
                call.values.map(\.kind) == call.statement.parameters,
                "a statement gets the values that it was written for")
            guard send(call.statement.name, call.values) else { throw fail(.connectionLost) }
        }
        guard pipeline.sync(handle) == 1 else { throw fail(.connectionLost) }
        let results = try answers(calls.count, until: deadline)
        guard pipeline.exit(handle) == 1 else { throw fail(.connectionLost) }
        return try results.get()
    }

    /// Reads the results of a pipeline to its end.
    ///
    /// - returns: The results, or what the server refused first.
    /// - throws: ``PostgresFailure`` when the connection has ended.
    private func answers(
        _ count: Int, until deadline: Deadline
    ) throws -> Result<[PostgresResult], PostgresFailure> {
        var results: [PostgresResult] = []
        var failure: PostgresFailure?
        try sendRest(until: deadline)
        while true {
            guard let next = try nextResult(until: deadline) else {
                // The end of one statement's results; a connection that has ended has no others.
                guard library.status(handle) != LibPQ.Status.bad else { throw lost(failure) }
                continue
            }
            defer { library.clear(next) }
            switch library.resultStatus(next) {
            case LibPQ.Status.commandOK, LibPQ.Status.tuplesOK, LibPQ.Status.emptyQuery:
                results.append(read(next))
            case LibPQ.Status.pipelineAborted: continue
            case LibPQ.Status.pipelineSync:
                if let failure {
                    if failure.endsConnection { isUsable = false }
                    return .failure(failure)
                }
                guard results.count == count else { throw fail(.unexpected, "an answer is missing") }
                return .success(results)
            default:
                failure = failure ?? refusal(next)
                guard library.status(handle) != LibPQ.Status.bad else { throw lost(failure) }
            }
        }
    }

    /// The next result; nil when one statement has no more.
    func nextResult(until deadline: Deadline) throws -> LibPQ.Result? {
        while library.isBusy(handle) == 1 {
            guard try wait(for: Self.reading, until: deadline) else { throw fail(.tooLate, Self.late) }
            guard library.consumeInput(handle) == 1 else { throw fail(.connectionLost) }
        }
        return library.result(handle)
    }

    /// The failure of a connection that has ended. The server says why it ends one, when it can.
    func lost(_ failure: PostgresFailure?) -> PostgresFailure {
        isUsable = false
        return failure.map { PostgresFailure(kind: .connectionLost, message: $0.message) }
            ?? fail(.connectionLost)
    }
}
