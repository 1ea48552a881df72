import Foundation
import SyncEngine

/// A mailbox in which the stores of a run meet, and that lies when it is told to.
protocol MeetingMailbox: Sendable {
    /// The place as a process sees it that has just begun.
    func mailbox(of machine: Int) throws -> any Mailbox

    /// From now on other faults occur. What happened stays so.
    func setFaults(_ faults: Set<MailboxFault>)

    /// Grows with what is done.
    var moment: Int { get }

    /// Puts the place back to what it was, for all to see.
    func goBack(to moment: Int)

    /// The files that are there, in order.
    var paths: [MailboxPath] { get }

    /// The bytes of a file; nil when there is none.
    func content(of path: MailboxPath) -> Data?

    /// What a file held before it was replaced.
    func formerContents(of path: MailboxPath) -> [Data]

    /// Puts other bytes into the place of a file's, for all to see.
    ///
    /// - parameter content: The bytes; nil to remove the file.
    func setContent(_ content: Data?, of path: MailboxPath)
}

extension MemoryMailbox: MeetingMailbox {
    func mailbox(of machine: Int) -> any Mailbox { seen(from: machine) }
}
