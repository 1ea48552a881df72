/// Invitations on the command line.
package enum InvitationArgument {
    /// Whether an argument is meant as an invitation, which "-" reads from standard input.
    package static func isMeant(_ text: String) -> Bool { text == "-" || text.hasPrefix("cipherstore:") }

    /// The invitation that an argument means; nil when it means something else.
    static func invitation(_ argument: String) throws -> (any Invitation)? {
        isMeant(argument) ? try NetworkSupport.required().invitation(argument) : nil
    }
}
