import SyncMembers

/// A recovery key that people get to see before anything is committed that rests upon it.
///
/// It is kept nowhere. Shown afterwards, it would be lost with a full disk, a lost network or the end of the process,
/// and no statement lets an admin set another one.
package struct ShownRecoveryKey {
    private let key: MembershipRecoveryKey

    private struct Document: Encodable {
        let messageType = "recovery_key"
        let recoveryKey: String
    }

    /// The key as it was shown.
    package var text: String { key.text }

    /// Makes a key, and shows it on stderr, whatever the flags say.
    ///
    /// - throws: ``Failure`` when it can't be written there: nothing may rest upon it then.
    package init(onErrorOf context: CommandContext) throws {
        key = try MembershipRecoveryKey()
        let document = try context.text(of: Document(recoveryKey: key.text))
        let words = "the recovery key is\n  \(key.text)\n\(MemberNames.recoveryNote)"
        try context.terminal.writeErrorSurely(context.global.isJSON ? document : words)
    }

    /// Makes a key, and prints it as the result of a command.
    ///
    /// - parameters:
    ///   - context: Where it is printed.
    ///   - document: The document for the text of the key.
    /// - throws: ``Failure`` when it can't be written there: nothing may rest upon it then.
    init<Content: Encodable>(printedBy context: CommandContext, _ document: (String) -> Content) throws {
        key = try MembershipRecoveryKey()
        // The one place where a secret is printed: it is what was asked for.
        try context.print(document(key.text), text: key.text)
        try context.terminal.flushOutput()
    }

    /// Commits what rests upon the key.
    ///
    /// - throws: ``Failure``, which says that the key that was shown does not count.
    package func use(in store: String, _ body: (MembershipRecoveryKey) throws -> Void) throws {
        do { try body(key) } catch {
            var failure = Failure(explaining: error, store: store)
            failure.hints.append("the recovery key that was shown does not count: nothing was changed")
            throw failure
        }
    }
}
