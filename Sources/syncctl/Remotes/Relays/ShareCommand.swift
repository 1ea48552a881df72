import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncMembers
import SyncRelay
import SyncctlCommands

/// Shares a store with another person or device through a relay.
struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Share a store through a relay, and invite one person or device.",
        usage: "syncctl share <store> [--relay <url> [--fingerprint <hex>]] [<options>]",
        discussion: """
            The first time, it makes a channel at the relay, sends what the store holds, and remembers the relay; \
            --relay is needed then only. A channel that the relay has lost is made again. Each time, it prints a link for one use: whoever has it first gets all of the \
            store, so send it a way that others do not see. The relay keeps sealed files and has no key; the key of the \
            channel stays in the store.

            A new channel has members: this store's is the first, an admin, and each link adds one, called by --label, who is \
            a writer unless --role says otherwise. syncctl member lists and removes them. A name has one link that can be used: \
            one that was lost, or has expired and was not used, is withdrawn with syncctl member remove. The first time, it also shows \
            a recovery key on standard error, which makes a new admin when none is left.

            New replicas begin from a snapshot in the channel, a copy of the whole store, tables that are not tracked \
            too. It is sent when there is none; --snapshot sends a fresh one.

            A relay that made its own certificate is known by its fingerprint, which syncctl relay prints; one with a \
            certificate of a public authority needs none. When a relay was set up anew, and has another certificate, --relay and \
            --fingerprint replace the fingerprint that the store knows; the channel and its key stay. Compare it with what \
            the relay printed: whoever is in between has one, too. Other stores learn it by a link: syncctl remote add --replace. From then on, the two stores meet with syncctl sync and \
            syncctl watch.

            EXAMPLES:
              syncctl share notes.db --relay https://relay.example:7444
              syncctl share notes.db --relay https://relay.example:7444 \\
                --fingerprint 9c56cc51…            # as syncctl relay printed it
              syncctl share notes.db --label anna --expires 7d --qr
              syncctl share notes.db --label ben --role reader
              syncctl init notes.db --join -       # there, with the link
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        name: .customLong("relay"),
        help: ArgumentHelp(
            "The address of the relay (default: the one that the store knows).", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp("The SHA-256 of the relay's certificate, in hexadecimal digits.", valueName: "hex")
    )
    var fingerprint: String?

    @Option(help: "Whom the link is for: what the new member is called.")
    var label: String?

    @Option(help: "What the new member may do: reader, writer or admin (default: writer).")
    var role: RoleArgument?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "What the first member is called, whose store this is (default: the user's name).",
            valueName: "name"))
    var ownName: String?

    @Option(
        help: ArgumentHelp("How long the link can be used: 15m, 2h or 7d, up to 30d.", valueName: "time"))
    var expires = "1d"

    @Option(help: ArgumentHelp("What the store calls the relay.", valueName: "name"))
    var name = RelayBook.defaultName

    @Option(
        help: ArgumentHelp(
            "Read the token that the relay wants of those who make channels from a file.", valueName: "file"),
        completion: .file())
    var admissionFile: String?

    @Flag(help: "Send a fresh snapshot, from which new replicas begin.")
    var snapshot = false

    @Flag(
        name: .customLong("qr"), help: "Print the link as a QR code, too, for the camera of another device.")
    var showsQRCode = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let time = InviteCommand.milliseconds(expires), seconds(time) != nil else {
            throw ValidationError("--expires takes a time such as 15m, 2h or 7d, up to 30d")
        }
        if let fingerprint, RelayAddress.fingerprint(fingerprint) == nil {
            throw ValidationError("--fingerprint takes 64 hexadecimal digits, as syncctl relay prints them")
        }
        if url == nil && fingerprint != nil {
            throw ValidationError("--fingerprint goes with --relay <url>")
        }
        if let url, (try? RelayAddress(url: url)) == nil {
            throw ValidationError("--relay takes the address of a relay, such as https://relay.example:7444")
        }
        for (option, text) in [("--label", label), ("--as", ownName)] {
            guard let text else { continue }
            do { _ = try MemberName(text) } catch { throw ValidationError("\(option): \(error.message)") }
        }
        // A name with a dot or a slash would be a file's.
        guard name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
            throw ValidationError("--name takes letters, digits, - and _")
        }
    }

    private func seconds(_ milliseconds: Int64) -> Int64? {
        let seconds = milliseconds / 1000
        return (1...RelayBounds.invitationSecondsMax).contains(seconds) ? seconds : nil
    }

    private struct Document: Encodable {
        let store: String
        let relay: String
        let name: String
        let label: String?
        let link: String
        let expires: String
        let isNew: Bool
        let pushed: Int64
        let snapshot: Bool
        let member: String?
        let role: String?
        let recoveryKey: String?
        let remarks: [String]
    }

    /// What whoever shares the store has to know: on standard error, each once, and in the document.
    private final class Remarks {
        private(set) var all: [String] = []
        private let context: CommandContext

        init(_ context: CommandContext) { self.context = context }

        func add(_ text: String) {
            // The store is synchronized twice, and finds the same files twice.
            guard !all.contains(text) else { return }
            all.append(text)
            context.note(text)
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            let admission = try admissionFile.map {
                try RelayAdmission.token(in: $0, hint: RelayAdmission.askHint)
            }
            let synchronizer = try Synchronizer(existing: context.open(options))
            Interruption.listen()
            let members = ChannelMembers(synchronizer, label: label, role: role?.role, ownName: ownName)
            let isFirst = try isFirstPlace(synchronizer)
            // A channel that was made for nothing would be one more remote.
            if !isFirst { try members.requireSome(store: options.store) }
            var recovery: String?
            // Once the store knows the relay, no other run would take it for the first place.
            let (known, isNew) = try relay(synchronizer, admission, context) {
                if isFirst { recovery = try members.found(store: options.store, context) }
            }
            let (relay, mailbox) = try Network.opened(known, of: synchronizer, context)
            let remarks = Remarks(context)
            let added = try members.invite(store: options.store, context, remark: remarks.add) {
                try announce(synchronizer, relay, remarks)
            }
            let (made, end) = try members.linking(added) { invitation in
                let (report, isSnapshotSent) = try send(synchronizer, relay, mailbox, remarks, context)
                let time = InviteCommand.milliseconds(expires) ?? 86_400_000
                let link = try Network.client(of: known.address, context).invite(
                    to: known.channel, seconds: seconds(time) ?? 86_400, membership: invitation)
                let end = Int64(Date().timeIntervalSince1970 * 1000) + time
                let made = (text: link.description, report: report, isSnapshotSent: isSnapshotSent)
                return (link: made, end: end)
            }
            try context.print(
                Document(
                    store: options.store, relay: known.address.url, name: known.name, label: label,
                    link: made.text, expires: HumanFormat.timestamp(end), isNew: isNew,
                    pushed: made.report.pushed?.rowCount ?? 0, snapshot: made.isSnapshotSent,
                    member: added?.name, role: added.map { _ in members.role.description },
                    recoveryKey: recovery, remarks: remarks.all),
                text: made.text)
            if showsQRCode { try context.printQRCode(of: made.text) }
            let whom = label.map { "for \($0), " } ?? ""
            context.note(
                "\(whom)for one use until \(HumanFormat.timestamp(end, style: .minute)); there, run:")
            context.note("  syncctl init <store> --join -     (and give it the link)")
            return .success
        }
    }

    /// Whether no relay, folder or bucket has carried the store yet, so that members shut out no replica that meets it there.
    private func isFirstPlace(_ synchronizer: Synchronizer) throws -> Bool {
        try RelayBook(synchronizer).relays().isEmpty
            && !synchronizer.rememberedRemotes().contains { remote in
                ["dir:", "s3:"].contains { remote.location.hasPrefix($0) || remote.name.hasPrefix($0) }
            }
    }

    /// Brings here what members have said, before somebody else is added to them.
    private func announce(
        _ synchronizer: Synchronizer, _ relay: OpenedRelay, _ remarks: Remarks
    ) throws {
        for remark in try synchronizer.run(.pull, relay.transport).notes { remarks.add(remark) }
    }

    /// Brings the channel and the store together, and sees that new replicas can begin from it.
    private func send(
        _ synchronizer: Synchronizer, _ relay: OpenedRelay, _ mailbox: RelayMailbox, _ remarks: Remarks,
        _ context: CommandContext
    ) throws -> (report: FolderReport, isSnapshotSent: Bool) {
        let report = try synchronizer.run(.both, relay.transport)
        for remark in report.notes { remarks.add(remark) }
        let hasSnapshot = try synchronizer.hasSnapshot(in: relay.transport)
        let isDue = snapshot || !hasSnapshot
        if isDue {
            let progress = PageProgress(context)
            try synchronizer.publishSnapshot(in: relay.transport, progress: progress.update)
            progress.finish()
        }
        for words in try relay.conclude() { remarks.add("\(name): \(words)") }
        return (report, isDue)
    }
}
