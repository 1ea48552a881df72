import SyncWire

/// What becomes of two values that were written without knowing of each other.
enum ConflictOutcome: Equatable {
    /// The later write stands, and the other value waits in the journal for somebody to look at it.
    case latest
    /// The older value stands if `prefersOlder`, or else the newer one. Nobody has to look at it.
    case chosen(prefersOlder: Bool)
    /// What a function of the app of that name makes of both; the later write where there is no such function.
    case made(function: String)
}

/// A policy of columns, as what has to do with values asks for it. One file each; ``ColumnPolicy/Kind`` lists them.
protocol CellPolicy: Sendable {
    /// The word for it in `_sync_policy` and on the wire.
    var word: String { get }
    /// The name of a function of the app, empty for policies that need none.
    var functionName: String { get }
    /// Whether it stands above all others, and nothing can take its place.
    var isPermanent: Bool { get }
    /// Whether it keeps values of its own, apart from what the user's table shows (see ``SeparateCells``). What
    /// is shown follows from them, so the outcome of conflicts is not asked for.
    var keepsCells: Bool { get }
    /// Whether conflicts have another outcome than `latest`.
    var decidesConflicts: Bool { get }

    /// What stands of two values. It depends on nothing else, so that replicas agree.
    ///
    /// - parameters:
    ///   - lost: The older one.
    ///   - won: The newer one.
    func outcome(lost: WireValue, won: WireValue) -> ConflictOutcome
}

extension CellPolicy {
    var functionName: String { "" }
    var isPermanent: Bool { false }
    var keepsCells: Bool { false }
    var decidesConflicts: Bool { false }

    func outcome(lost: WireValue, won: WireValue) -> ConflictOutcome { .latest }
}

extension ColumnPolicy.Kind {
    /// What it does.
    var policy: any CellPolicy {
        switch self {
        case .lastWriter: LastWriterPolicy()
        case .counter: CounterPolicy()
        case .custom(let name): CustomPolicy(functionName: name)
        case .max: ExtremePolicy(isGreatest: true)
        case .min: ExtremePolicy(isGreatest: false)
        }
    }

    /// The word for it in `_sync_policy` and on the wire.
    var word: String { policy.word }

    /// - returns: nil for a kind that this program does not know.
    init?(word: String, functionName: String) {
        let kinds: [ColumnPolicy.Kind] = [.lastWriter, .counter, .custom(name: functionName), .max, .min]
        guard let kind = kinds.first(where: { $0.word == word }) else { return nil }
        self = kind
    }

    /// Whether others take in the name of its function.
    var hasAdmissibleName: Bool {
        policy.functionName.utf8.count <= AdmissionLimits.functionNameByteCountMax
    }

    /// Whether a declaration takes the place of another one for the same column.
    ///
    /// - parameter isNewer: Whether it was made later.
    func replaces(_ present: ColumnPolicy.Kind, isNewer: Bool) -> Bool {
        !present.policy.isPermanent && (isNewer || policy.isPermanent)
    }

    /// The words of policies that keep cells, as a list in SQL.
    static let separateWords = [ColumnPolicy.Kind.counter].map { "'\($0.word)'" }.joined(separator: ", ")
}
