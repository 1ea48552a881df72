import Foundation
import SyncEngine
import SyncRelay

/// A relay in a process of its own, with a channel of it in which stores meet.
final class RelayHub {
    private let folder: WorkFolder
    private let relay: ChildProcess
    private let channel = RelayChannel.random()
    private let client: RelayClient
    /// The store that the others begin from.
    let path: String

    init(_ folder: WorkFolder, hasMembers: Bool = false) throws {
        self.folder = folder
        path = folder.file("from.db")
        relay = try ChildProcess(Role.relay.rawValue, [folder.file("relay.db")])
        let serving = try relay.next(Role.Serving.self)
        let address = try RelayAddress(
            host: "127.0.0.1", port: serving.port, fingerprint: serving.fingerprint)
        client = RelayClient(address)
        try client.make(channel)
        try Stores.create(path)
        let queue = try Stores.open(path)
        let synchronizer = try Synchronizer(existing: queue)
        try RelayBook(synchronizer).save(known)
        if hasMembers { _ = try synchronizer.membership.found(Membership.Name("from")) }
        try queue.close()
    }

    private var known: KnownRelay {
        KnownRelay(name: RelayBook.defaultName, address: client.address, channel: channel)
    }

    /// Makes a device: of a member of its own, where there are members.
    ///
    /// - returns: The path of its store.
    func join(_ name: String) throws -> String {
        let first = try RelayDevice(path)
        let membership = first.synchronizer.membership
        let isAmongMembers = try membership.state() != nil
        let invitation = try isAmongMembers ? membership.invite(Membership.Name(name), as: .writer) : nil
        _ = try first.run(.both)
        try first.synchronizer.publishSnapshot(in: first.transport)
        let path = folder.file(name + ".db")
        try use(client.invite(to: channel, seconds: 3600, membership: invitation), at: path)
        let device = try RelayDevice(path)
        _ = try device.run(.both)
        try device.queue.close()
        // The first one hears of the device.
        _ = try first.run(.both)
        try first.queue.close()
        return path
    }

    private func use(_ link: RelayLink, at path: String) throws {
        let (channel, invitation) = try client.takeWithMembership(link)
        let transport = try channel.key.transport(through: RelayMailbox(channel, client: client))
        try Synchronizer.join(transport, at: path, passphrase: Stores.secret(), invitation: invitation)
        let queue = try Stores.open(path)
        try RelayBook(Synchronizer(existing: queue)).save(known)
        try queue.close()
    }

    /// What the relay has taken until now.
    func usage() throws -> Usage {
        try relay.ask()
        return try relay.next(Usage.self)
    }

    /// How many bytes the relay has on the disk: its file with what SQLite keeps beside it.
    func byteCount() throws -> Int {
        let manager = FileManager.default
        return try manager.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("relay.db") }
            .reduce(0) { sum, name in
                let size = try manager.attributesOfItem(atPath: folder.file(name))[.size] as? NSNumber
                return sum + (size?.intValue ?? 0)
            }
    }

    /// Ends the relay.
    ///
    /// - returns: What it took.
    func end() throws -> Usage {
        try relay.end()
        let usage = try relay.next(Usage.self)
        relay.wait()
        return usage
    }
}
