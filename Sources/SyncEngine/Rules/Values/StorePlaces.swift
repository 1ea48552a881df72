import CipherStore
import Foundation
import SyncWire

/// Where a store is: what a copy of its file does not share.
public struct StorePlace: Equatable, Sendable {
    /// The machine; nil when it has no name.
    public var machine: String?
    /// The file on its file system; nil when nothing tells it from others.
    public var identity: String?
    /// The identities of the files in whose place it was put by a change of its key.
    public var predecessors: [String]
    /// What was noted beside the content of the file; nil when there is nothing.
    public var mark: [UInt8]?

    /// Makes a place.
    public init(
        machine: String? = nil, identity: String? = nil, predecessors: [String] = [], mark: [UInt8]? = nil
    ) {
        self.machine = machine
        self.identity = identity
        self.predecessors = predecessors
        self.mark = mark
    }
}

/// Tells where stores are. Tests and simulations give their own.
public protocol StorePlaces: Sendable {
    /// Where a file is; nil when it can't be said.
    func place(of path: String) -> StorePlace?

    /// Notes something beside the content of a file.
    ///
    /// - returns: Whether that can be done.
    func setMark(_ mark: [UInt8], of path: String) -> Bool
}

/// The machine that the program runs on, and its files.
public struct SystemPlaces: StorePlaces {
    /// Makes the places of this machine.
    public init() {}

    /// A hash of the machine's identifier: the identifier itself is nobody's business.
    private static let machine: String? = {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            return hash(text)
        }
        #if canImport(Darwin)
            var identifier = [UInt8](repeating: 0, count: 16)
            var wait = timespec(tv_sec: 1, tv_nsec: 0)
            guard gethostuuid(&identifier, &wait) == 0 else { return nil }
            return hash(UUID(uuid: identifier.withUnsafeBytes { $0.load(as: uuid_t.self) }).uuidString)
        #else
            return nil
        #endif
    }()

    private static func hash(_ text: String) -> String {
        var hash = ChainHash(after: Identifier128(high: 0x6369_7068_6572, low: 0x7374_6f72_65))
        hash.add(Array(text.utf8))
        return hash.value.description
    }

    /// Looks at a file.
    public func place(of path: String) -> StorePlace? {
        guard let file = FilePlace(path: path) else { return nil }
        return StorePlace(
            machine: Self.machine, identity: file.identity, predecessors: file.predecessors, mark: file.mark)
    }

    /// Notes something in an extended attribute of the file.
    public func setMark(_ mark: [UInt8], of path: String) -> Bool { FilePlace.setMark(mark, at: path) }
}
