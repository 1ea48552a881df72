/// A mailbox that can make several small changes at once.
package protocol BatchingMailbox: Mailbox {
    /// The same place, for changes that are made when they are committed.
    func batch() -> any MailboxBatch
}

/// A place whose changes wait until they are committed: others see all of them or none.
///
/// A file that is too large to wait is written at once, after what waited before it. Reading tells what is there already.
package protocol MailboxBatch: Mailbox {
    /// Makes the changes. When it throws, all or none were made: a connection may have ended before the answer came.
    ///
    /// - throws: As `write(_:replacing:_:)`.
    func commit() throws
}

extension MailboxTransport {
    /// The same, whose changes are made when they are committed, if the mailbox can do that.
    func batching() -> MailboxTransport {
        guard let mailbox = mailbox as? any BatchingMailbox else { return self }
        var transport = self
        transport.mailbox = mailbox.batch()
        return transport
    }
}
