import Foundation

/// What each kind of request costs a relay, as `--measure` finds it.
struct ServiceTimes: Codable {
    /// The processor time of a node for a new TLS connection, in milliseconds.
    var connection = 1.5
    /// That of a listing in which nothing is new, or little.
    var listing = 0.24
    /// That of handing out a file of a few hundred bytes.
    var reading = 0.29
    /// That of writing, replacing or removing a file, the storage's share included.
    var writing = 0.50
    /// That of opening a watch.
    var watch = 0.26
    /// That of a line to one watch.
    var line = 0.03
    /// How long a commit takes that has nothing to wait for, in milliseconds: the disk's, not the processor's.
    var commit = 0.42
    /// How much longer it takes for each change in it, in milliseconds: assumed, and not measured.
    var change = 0.15
    /// What a watch takes of a node's memory, in kilobytes.
    var watchKilobytes = 49.0

    func milliseconds(of kind: RequestKind) -> Double {
        switch kind {
        case .connection: connection
        case .listing: listing
        case .reading: reading
        case .writing: writing
        case .watch: watch
        case .line: line
        }
    }
}

/// What devices ask of a relay, and what it does on its own.
enum RequestKind: Int, CaseIterable {
    case connection, listing, reading, writing, watch, line

    /// What travels for it both ways, with the heads of HTTP and the frames of TLS, in bytes.
    var byteCount: Double {
        switch self {
        case .connection: 3_200
        case .listing: 900
        case .reading: 1_500
        case .writing: 1_700
        case .watch: 700
        case .line: 120
        }
    }
}
