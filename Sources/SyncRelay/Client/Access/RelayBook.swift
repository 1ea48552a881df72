import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

/// A relay that a store synchronizes through.
public struct KnownRelay: Sendable, Equatable {
    /// The name that commands use.
    public let name: String
    /// Where it is.
    public let address: RelayAddress
    /// The channel there, and its key.
    public let channel: RelayChannel
    /// The last moment of the channel that was seen here; nil for none.
    public var seen: RelayMoment?

    /// Describes a relay.
    public init(name: String, address: RelayAddress, channel: RelayChannel, seen: RelayMoment? = nil) {
        (self.name, self.address, self.channel, self.seen) = (name, address, channel, seen)
    }
}

/// The relays that a store knows. They are in the encrypted store itself, with the keys of their channels.
public struct RelayBook: Sendable {
    /// The name of the first one.
    public static let defaultName = "relay"

    private let synchronizer: Synchronizer

    /// Makes the book of a store.
    public init(_ synchronizer: Synchronizer) { self.synchronizer = synchronizer }

    /// What a setting of the store holds.
    private struct Record: Codable {
        let host: String
        let port: Int
        let fingerprint: String?
        let channel: RelayChannelID
        let key: String
        let seen: RelayMoment?
    }

    /// The relays, by name.
    ///
    /// - throws: ``RelayError`` of code `failed` for an entry that is damaged.
    public func relays() throws -> [KnownRelay] {
        try synchronizer.writer.read { db in try RelaySettings.loadAll(db).map(Self.relay) }
    }

    /// A relay by its name.
    ///
    /// - throws: ``RelayError`` of code `noSuchRelay`.
    public func relay(_ name: String = defaultName) throws -> KnownRelay {
        guard let relay = try relays().first(where: { $0.name == name }) else {
            throw RelayError(.noSuchRelay, "the store knows no relay \(name.debugDescription)")
        }
        return relay
    }

    /// Remembers a relay. One of the same name is replaced, and how the synchronizations through it went is forgotten, unless
    /// a relay is at its address still.
    public func save(_ relay: KnownRelay) throws {
        let text = try Self.text(of: relay)
        try synchronizer.upgradeMetadata()
        try synchronizer.writer.write { db in
            let former = try RelaySettings.loadAll(db).first { $0.name == relay.name }
            try RelaySettings.set(db, relay.name, text)
            // A damaged entry is replaced, too.
            guard let former = former.flatMap({ try? Self.relay($0) }) else { return }
            try Self.forgetAttempts(db, of: former)
        }
    }

    /// Forgets how the synchronizations through a relay went that the store does not know any more. That is kept by the address,
    /// at which another relay of the store may be.
    private static func forgetAttempts(_ db: Database, of former: KnownRelay) throws {
        let known = try RelaySettings.loadAll(db).compactMap { try? Self.relay($0) }
        guard !known.contains(where: { $0.address.url == former.address.url }) else { return }
        try RelaySettings.forgetAttempts(db, at: former.address.url)
    }

    /// Remembers what was seen last of a relay's channel, so that a later process notices when it goes back.
    ///
    /// Nothing is noted when the store knows another channel or address under the name by now, or none: another process may have
    /// replaced or removed the relay meanwhile.
    ///
    /// - parameters:
    ///     - seen: The moment; nil for none.
    ///     - relay: The relay as it was when the channel was looked at.
    /// - throws: ``RelayError`` of code `failed` for an entry that is damaged; `DatabaseError`.
    public func note(_ seen: RelayMoment?, of relay: KnownRelay) throws {
        guard let seen, let known = try relays().first(where: { $0.name == relay.name }), known.seen != seen
        else { return }
        try synchronizer.upgradeMetadata()
        try synchronizer.writer.write { db in
            let relays = try RelaySettings.loadAll(db).map(Self.relay)
            guard var current = relays.first(where: { $0.name == relay.name }),
                current.channel == relay.channel, current.address == relay.address
            else { return }
            current.seen = seen
            try RelaySettings.set(db, current.name, Self.text(of: current))
        }
    }

    /// Forgets a relay, the key of its channel, and how the synchronizations through it went. What is there stays there.
    ///
    /// - throws: ``RelayError`` of code `noSuchRelay`.
    public func remove(_ name: String) throws {
        let relay = try relay(name)
        try synchronizer.writer.write { db in
            try RelaySettings.set(db, name, nil)
            try Self.forgetAttempts(db, of: relay)
        }
    }

    private static func text(of relay: KnownRelay) throws -> String {
        let record = Record(
            host: relay.address.host, port: relay.address.port,
            fingerprint: relay.address.fingerprint.map { ByteText.hex($0) }, channel: relay.channel.id,
            key: relay.channel.key.secretText, seen: relay.seen)
        return String(decoding: try RelayJSON.encode(record), as: UTF8.self)
    }

    private static func relay(_ setting: (name: String, value: String)) throws -> KnownRelay {
        guard let record = try? RelayJSON.decode(Record.self, from: Array(setting.value.utf8)),
            let key = RelayChannelKey(secretText: record.key),
            let address = try? RelayAddress(
                host: record.host, port: record.port,
                fingerprint: record.fingerprint.flatMap(RelayAddress.fingerprint))
        else {
            throw RelayError(
                .failed, "what the store keeps of the relay \(setting.name.debugDescription) is damaged",
                hint: "join again by a new link")
        }
        return KnownRelay(
            name: setting.name, address: address,
            channel: RelayChannel(id: record.channel, key: key), seen: record.seen)
    }
}
