import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncMembers

/// Makes a store the device of the first member.
struct MemberFoundCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "found", abstract: "Give a database members, of which this store's is the first.",
        usage: "syncctl member found <store> [--as <name>] [<options>]",
        discussion: """
            From then on, this store takes in from relays, folders and buckets what members have written, and nothing \
            else. Other replicas of the database need an invitation each; what they wrote before comes along then. So \
            synchronize first.

            It prints a recovery key, once. It makes a new admin when none is left: print it, and keep it away from \
            the store.

            --replace begins anew where there are members already, for when so much was said about them that nobody can be \
            removed any more. This store keeps its rows, and nothing that was said before counts for it. The others go on with \
            the members from before until they are invited anew: syncctl member accept --replace. Whoever belonged to these \
            still has what the place asks for, so move to a new channel or folder, too.
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Begin anew, in the place of the members that there are.")
    var replace = false

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("What the first member is called (default: the user's name).", valueName: "name"))
    var name: String?

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let name: String
        let recoveryKey: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            let name = try MemberNames.own(name)
            let synchronizer = try Synchronizer(existing: context.open(options))
            guard try replace || synchronizer.membership.state() == nil else {
                throw SyncError(.notMember, "the database has members already")
            }
            let shown = try ShownRecoveryKey(printedBy: context) {
                Document(store: options.store, name: name.text, recoveryKey: $0)
            }
            try shown.use(in: options.store) { key in
                if replace {
                    try synchronizer.membership.foundAnew(name, recoveryKey: key)
                } else {
                    try synchronizer.membership.found(name, recoveryKey: key)
                }
            }
            context.note(MemberNames.recoveryNote)
            return .success
        }
    }
}

/// Makes a store the device of a new admin.
struct MemberRecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Become an admin by the recovery key.",
        usage:
            "syncctl member recover <store> --recovery-key-file <file> [--as <name>] [--offline] [<options>]",
        discussion: """
            For when no admin is left, or none can be reached. The store becomes a device of a new member, who is an admin.

            First it asks the relays, folders and buckets that the store knows, or the one that --remote names, what was said of \
            members meanwhile, and it is refused where none tells: of two uses of the key that did not know each other one counts, \
            and whom the other one let in is out, its admin too. --offline asks nobody. Synchronize at once afterwards, for \
            the same reason.

            With --new-key another recovery key counts from then on, and a store that has heard of that takes the old one no \
            more. It does not end what somebody can do who has the old key and reaches the place: that one can say that it \
            was used before, any number of times, and the new key does not count any more. Against that, begin anew in a \
            new channel or folder: syncctl member found --replace.

            EXAMPLES:
              syncctl member recover notes.db --recovery-key-file key.txt --as anna
              syncctl member recover notes.db --recovery-key-file key.txt \\
                --remote dir:/media/stick/notes --remote-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        name: .customLong("recovery-key-file"),
        help: ArgumentHelp("Read the recovery key from a file, such as /dev/stdin.", valueName: "file"),
        completion: .file())
    var file: String

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("What the new admin is called (default: the user's name).", valueName: "name"))
    var name: String?

    @Flag(name: .customLong("new-key"), help: "Make another recovery key, and print it once.")
    var makesNewKey = false

    @Flag(help: "Ask no remote what was said of members meanwhile.")
    var offline = false

    @OptionGroup(title: "Remote") var remote: RemoteOptions

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let name: String
        /// The identifier is made when the key counts, after this was printed with a new key.
        let role = MemberRole.admin.description
        let recoveryKey: String?
        /// What is to be done then, and what was not heard: on standard error without JSON.
        let remarks: [String]
    }

    func validate() throws {
        if offline && remote.given != nil {
            throw ValidationError("--offline asks no remote, so it excludes --remote")
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            let name = try MemberNames.own(name)
            let words = try PassphraseFile.text(of: file, name: "recovery key file \(file)")
            let key = try MembershipRecoveryKey(words)
            let store = ExchangedStore(options, context)
            let membership = try store.synchronizer().membership
            var place: SharedPlace?
            var heard: [String] = []
            if try !offline && membership.state() != nil {
                (place, heard) = try HeardStatements(store: store, remote: remote).hear()
            }
            let wasMember = try membership.role() != nil
            // With a key that does not count nothing is made, and no other key is shown.
            if let counting = try membership.state()?.recovery, counting != key.card {
                throw Failure.refused(
                    "this recovery key does not count, or not any more",
                    hints: [
                        "take the one that was shown last: a recovery may have put it in the place of this one"
                    ])
            }
            let remarks = try remarks(store, place, wasMember: wasMember)
            guard makesNewKey, try membership.state()?.recovery != nil else {
                try membership.recover(by: key, as: name, successor: nil)
                try context.print(
                    Document(
                        store: options.store, name: name.text, recoveryKey: nil, remarks: heard + remarks),
                    text: PrintableText.escaped("\(options.store) is a device of \(name) now, who is admin"))
                for remark in remarks { context.note(remark) }
                return .success
            }
            let former =
                "whoever has seen the former key, and reaches the place, can still use it as if before; against that, begin anew in a new channel or folder: syncctl member found \(CommandWords.path(options.store)) --replace"
            let shown = try ShownRecoveryKey(printedBy: context) {
                Document(
                    store: options.store, name: name.text, recoveryKey: $0,
                    remarks: heard + [former] + remarks)
            }
            try shown.use(in: options.store) { next in
                try membership.recover(by: key, as: name, successor: next)
            }
            context.note("this store is a device of \(name) now, who is admin")
            context.note(MemberNames.recoveryNote)
            for remark in [former] + remarks { context.note(remark) }
            return .success
        }
    }

    /// What is to be done once the store is the new admin's.
    ///
    /// - parameter place: The place that was named, which the store need not know.
    private func remarks(
        _ opened: ExchangedStore, _ place: SharedPlace?, wasMember: Bool
    ) throws -> [String] {
        let store = CommandWords.path(options.store)
        let command =
            try place.map { "syncctl sync \(store) --remote \($0.words)" }
            ?? opened.synchronizer().synchronizationCommand(store: options.store)
        let next = "synchronize at once, before the key is used elsewhere: \(command)"
        guard wasMember else { return [next] }
        return [
            next,
            "the member whose device it was before stays one; see: syncctl member list \(store), and: syncctl member remove \(store) <name>",
        ]
    }
}

/// What members are called, and told.
package enum MemberNames {
    /// What to do with a recovery key.
    package static let recoveryNote =
        "this is the only time that the recovery key is shown: print it, and keep it away from the store; it makes a new admin when none is left: syncctl member recover"

    /// The shortest beginnings that tell identifiers apart, of four digits at least.
    static func beginnings(of identifiers: [String]) -> [String] {
        let longest = identifiers.map(\.count).max() ?? 0
        let length = (4..<max(5, longest)).first { length in
            Set(identifiers.map { $0.prefix(length) }).count == identifiers.count
        }
        return identifiers.map { String($0.prefix(length ?? longest)) }
    }

    /// The name of the member whose device this is.
    package static func own(_ name: String?) throws -> MemberName {
        if let name { return try MemberName(name) }
        if let own = try? MemberName(NSUserName()) { return own }
        return try MemberName("owner")
    }
}
