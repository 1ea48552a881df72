/// Something that must not happen, and did.
public struct SimulationViolation: Error, Equatable, CustomStringConvertible, Sendable {
    /// The rules that a run is held to.
    public enum Rule: String, Sendable {
        /// The log holds what happened to the tables, and nothing else.
        case capture
        /// A replica's versions are those of the changes that its vector covers.
        case versions
        /// The tables show what follows from the versions and the schema.
        case shownRows = "shown-rows"
        /// Replicas with equal vectors are equal.
        case convergence
        /// Each value that was committed is visible, was replaced by somebody who knew it, or is in a journal.
        case lostValue = "lost-value"
        /// Applying a bundle again changes nothing.
        case idempotence
        /// No constraint is violated, and no check finds a problem.
        case integrity
        /// A transaction that was cut off left the state of before or after.
        case atomicity
        /// A vector or a clock moved in another way than it must.
        case progress
        /// Whoever was removed reads nothing that was written by those who knew it.
        case secrecy
        /// Something failed, without a fault that explains it.
        case failure
    }

    /// The rule.
    public let rule: Rule
    /// What was found, where.
    public let message: String

    init(_ rule: Rule, _ message: String) {
        self.rule = rule
        self.message = message
    }

    /// The rule and what was found.
    public var description: String { "\(rule.rawValue): \(message)" }
}
