import CipherStore
import SyncEngine

/// The mailbox in which the stores of a run meet.
final class MeetingPlace {
    private let mailbox: any MeetingMailbox
    private let faults: Set<MailboxFault>
    private var template: MailboxTransport
    /// The place as the processes of stores see it, by their numbers.
    private var views: [Int: (start: Int, mailbox: any Mailbox)] = [:]
    /// What was there when steps began, to which a place that lies goes back.
    private var moments = [0]

    /// - parameter faults: What goes wrong in it by itself, once faults begin.
    init(
        _ mailbox: any MeetingMailbox, faults: Set<MailboxFault>, acknowledgementSeconds: Double
    ) throws {
        (self.mailbox, self.faults) = (mailbox, faults)
        template = MailboxTransport(
            mailbox: try mailbox.mailbox(of: 0), passphrase: try Passphrase("a passphrase of places"),
            cost: .minimum)
        // Little is kept before it is replaced, so that it is replaced in most runs.
        template.compaction.bundleCountMax = 5
        template.acknowledgementSeconds = acknowledgementSeconds
    }

    /// The way into it for a store.
    func transport(of store: WitnessedStore) throws -> MailboxTransport {
        var view = views[store.number]
        if view?.start != store.startCount {
            view = (store.startCount, try mailbox.mailbox(of: store.number))
        }
        views[store.number] = view
        var transport = template
        if let batching = view?.mailbox as? any BatchingMailbox {
            transport.mailbox = MortalBatchingMailbox(batching: batching, life: store.life)
        } else if let mailbox = view?.mailbox {
            transport.mailbox = MortalMailbox(inner: mailbox, life: store.life)
        }
        return transport
    }

    /// From now on things go wrong in it.
    func beginFaults() { mailbox.setFaults(faults) }

    /// From now on nothing goes wrong in it.
    func endFaults() { mailbox.setFaults([]) }

    // MARK: Lies

    /// Notes what is there.
    func remember() { if moments.last != mailbox.moment { moments.append(mailbox.moment) } }

    /// Does what no place may, and places do: their disks are put back, and those who run them are not all honest.
    ///
    /// - returns: What it does, for the trace.
    func lie(_ random: inout SimulationRandom) -> String {
        let path = random.element(of: mailbox.paths)
        switch random.number(below: 10) {
        case 0:
            mailbox.goBack(to: 0)
            return "the place loses everything"
        case 1..<5:
            let moment = random.element(of: Array(moments.suffix(12))) ?? 0
            mailbox.goBack(to: moment)
            return "the place goes back to moment \(moment) of \(moments.last ?? 0)"
        case 5..<7:
            guard let path else { return "the place is empty" }
            mailbox.setContent(nil, of: path)
            return "the place loses \(path)"
        case 7..<9:
            guard let path, let former = random.element(of: mailbox.formerContents(of: path)) else {
                return "the place has no older version of anything"
            }
            mailbox.setContent(former, of: path)
            return "the place shows an older version of \(path)"
        default:
            guard let path, let other = random.element(of: mailbox.paths) else {
                return "the place is empty"
            }
            mailbox.setContent(mailbox.content(of: other), of: path)
            return "the place shows \(other) as \(path)"
        }
    }
}
