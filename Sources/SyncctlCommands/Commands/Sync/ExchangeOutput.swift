import SyncEngine

/// What push, pull and sync say, whatever the remote is.
package struct ExchangeText {
    let direction: SyncDirection
    let pulled: SyncReport.Transfer?
    let pushed: SyncReport.Transfer?

    package init(direction: SyncDirection, pulled: SyncReport.Transfer?, pushed: SyncReport.Transfer?) {
        self.direction = direction
        self.pulled = pulled
        self.pushed = pushed
    }

    /// What went which way, and what lost.
    package var parts: [String] {
        var parts: [String] = []
        if direction != .push { parts.append("pulled \(Self.count(pulled))") }
        if direction != .pull { parts.append("pushed \(Self.count(pushed))") }
        parts.append(Self.conflicts(SyncReport.conflictCount(pulled: pulled, pushed: pushed)))
        return parts
    }

    /// How many values lost.
    static func conflicts(_ count: Int64) -> String {
        count == 0
            ? "no conflicts"
            : "\(HumanFormat.count(Int(count), "conflict")) resolved by last writer, the losing \(count == 1 ? "value" : "values") kept"
    }

    /// What became of rows that the remote does not take.
    static func remark(_ refusal: SyncError) -> String {
        let count = refusal.rows.reduce(0) { $0 + $1.keys.count }
        let text = PrintableText.escaped(refusal.message)
        guard count > 0 else {
            return "what was changed here was not taken, and stays here to be sent: \(text)"
        }
        let rows = HumanFormat.count(count, "changed row")
        let (was, stays) = count == 1 ? ("was", "stays") : ("were", "stay")
        return "\(rows) \(was) not taken and \(stays) here to be sent, all else was sent: \(text)"
    }

    /// What is said of changes that a device which may only read has made.
    package static func unsent(_ count: Int64) -> String {
        "\(HumanFormat.count(Int(count), "change")) \(count == 1 ? "stays" : "stay") here: this device may only read"
    }

    private static func count(_ transfer: SyncReport.Transfer?) -> String {
        // A bundle may have brought what is no row, such as what a replica knows.
        guard let transfer, transfer.rowCount > 0 else { return "nothing new" }
        return HumanFormat.count(Int(transfer.rowCount), "row")
            + " (\(HumanFormat.bytes(Int(transfer.byteCount))))"
    }
}

extension Exchange {
    /// Rows that differed though nothing new was to come.
    struct DivergenceDocument: Encodable {
        let rows: Int
        let tables: [String]
        let repaired: Bool
        let reason: String?

        init(_ divergence: Divergence) {
            rows = divergence.rowCount
            tables = divergence.tables.map(\.name)
            repaired = divergence.isRepaired
            reason = divergence.failure?.message
        }
    }

    /// What is printed of an exchange with another store.
    struct Document: Encodable {
        let messageType: String?
        let time: String?
        let store: String
        let remote: String
        let pulled: Int64
        let pushed: Int64
        let conflicts: Int64
        let parked: Int64
        let divergence: DivergenceDocument?
        let bytesPulled: Int64
        let bytesPushed: Int64
        let tables: [String]?
        let rows: [String]?
        let waiting: [Waiting]?
        let refused: String?
        /// How many changes are not sent, because this device may not write.
        let unsent: Int64?
        let seconds: Double
    }

    /// A table that waits for another synchronization.
    struct Waiting: Encodable {
        let table: String
        let reason: String
    }
}

extension PreparedExchange.Output {
    /// Whether it is the only exchange of the command.
    var isOnce: Bool { if case .once = self { true } else { false } }

    /// What kind of document it is among others; nil for the only one.
    var messageType: String? { isOnce ? nil : "synchronized" }

    /// When it is, where there are several.
    var time: String? { isOnce ? nil : HumanFormat.timestamp(Repetition.now) }

    /// Whether anything is printed of an exchange that has come about, which a watch is told of.
    func tells(_ pulled: SyncReport.Transfer?, _ pushed: SyncReport.Transfer?) throws -> Bool {
        guard case .watched(let onConnection) = self else { return true }
        try onConnection()
        // Replicas may have told each other what they know, and no row.
        return [pulled, pushed].contains { transfer in
            guard let transfer else { return false }
            return transfer.rowCount > 0 || transfer.conflictCount > 0 || transfer.parkedCount > 0
        }
    }

    func line(_ text: String) -> String { isOnce ? text : Repetition.stamped(text) }
}

/// The progress of an exchange: a line for each direction.
final class ExchangeProgress {
    private let context: CommandContext
    /// What a pull counts; a push counts rows.
    private let pullUnit: ProgressUnit
    private var current: (direction: SyncDirection, progress: StepProgress)?

    init(_ context: CommandContext, pullUnit: ProgressUnit = .items("rows")) {
        self.context = context
        self.pullUnit = pullUnit
    }

    func update(_ progress: SyncProgress) throws {
        if current?.direction != progress.direction {
            finish()
            let unit = progress.direction == .pull ? pullUnit : .items("rows")
            current = (progress.direction, context.progress(progress.direction.rawValue, unit: unit))
        }
        try current?.progress.update(progress.completedRowCount, progress.totalRowCount)
    }

    func finish() {
        current?.progress.finish()
        current = nil
    }
}

extension CommandContext {
    /// Says that there is nothing to exchange, in a store that nobody has told which tables to track.
    func untrackedRemark(_ synchronizer: Synchronizer, _ store: String) throws {
        guard try synchronizer.writer.read({ try ServedState.tableNames($0) }).isEmpty else { return }
        note("no table is tracked here; start with: syncctl track \(CommandWords.path(store)) <table>")
    }

    /// Says that rows wait in a store.
    ///
    /// - parameter isHere: Whether the store is a file on this machine, which a command can look into.
    func parkedRemark(_ count: Int64, _ store: String, isHere: Bool = true) -> ExitStatus {
        guard count > 0 else { return .success }
        let place =
            isHere
            ? "see: syncctl status \(CommandWords.path(store))" : "on its machine, syncctl parked shows them"
        note(
            """
            \(HumanFormat.count(Int(count), "row")) could not be written into \(store) yet and \
            \(count == 1 ? "waits" : "wait") there; \(place)
            """)
        return .attention
    }
}
