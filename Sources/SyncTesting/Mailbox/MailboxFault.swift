/// What a ``MemoryMailbox`` does that a real place does now and then.
public enum MailboxFault: String, CaseIterable, Sendable {
    /// What one machine writes or removes, others see later, file by file and in any order.
    case lateFiles = "late-files"
    /// Listings show what was there a while ago, or files that can't be read yet.
    case staleListings = "stale-listings"
    /// The connection is lost before or in the middle of a call, which has no effect then.
    case lostCalls = "lost-calls"
    /// The connection is lost after a call that took effect.
    case lostAnswers = "lost-answers"
    /// There is no room for a file.
    case fullPlace = "full-place"
    /// A bit of a bundle changes.
    case damage
}
