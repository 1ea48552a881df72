/// Something that `syncctl doctor` has to say.
struct Finding: Encodable, Equatable {
    /// How much it matters. Notes are facts to know; the others need attention.
    enum Severity: String, Encodable {
        case error
        case warning
        case note
    }

    let severity: Severity
    /// What was found.
    let what: String
    /// Why it matters.
    let why: String
    /// What to do about it.
    let advice: String

    var needsAttention: Bool { severity != .note }

    static func error(_ what: String, why: String, advice: String) -> Finding {
        Finding(severity: .error, what: what, why: why, advice: advice)
    }

    static func warning(_ what: String, why: String, advice: String) -> Finding {
        Finding(severity: .warning, what: what, why: why, advice: advice)
    }

    static func note(_ what: String, why: String, advice: String) -> Finding {
        Finding(severity: .note, what: what, why: why, advice: advice)
    }
}
