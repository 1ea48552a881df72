extension ReplicaFacts {
    /// The tags of the sections. Others are skipped.
    private enum Tag {
        static let chains: UInt64 = 1
        static let floor: UInt64 = 2
        static let known: UInt64 = 3
        static let retirements: UInt64 = 4
        static let place: UInt64 = 5
        static let digest: UInt64 = 6
        static let repair: UInt64 = 7
        static let parts: UInt64 = 8
        static let acknowledged: UInt64 = 9
        static let partials: UInt64 = 10
        static let restrictions: UInt64 = 11
    }

    /// Writes the facts as sections: their number, then tag, length and bytes of each.
    func encode(to writer: inout WireWriter) {
        var sections: [(tag: UInt64, bytes: WireWriterBox)] = []
        func add(_ tag: UInt64, unless isEmpty: Bool, _ body: (inout WireWriter) -> Void) {
            guard !isEmpty else { return }
            let box = WireWriterBox()
            body(&box.writer)
            sections.append((tag, box))
        }
        add(Tag.chains, unless: chains.isEmpty) { encodeChains(to: &$0) }
        add(Tag.floor, unless: floor.sequences.isEmpty) { floor.encode(to: &$0) }
        add(Tag.known, unless: known.isEmpty) { encode(known, to: &$0) }
        add(Tag.retirements, unless: retirements.isEmpty) { encodeRetirements(to: &$0) }
        add(Tag.place, unless: place == nil) { if let place { $0.raw(place.bytes) } }
        add(Tag.digest, unless: digest == nil) { digest?.encode(to: &$0) }
        add(Tag.repair, unless: !isRepair) { _ in }
        add(Tag.parts, unless: parts.isEmpty) { Self.encode(parts, to: &$0) }
        add(Tag.acknowledged, unless: acknowledged.isEmpty) { encode(acknowledged, to: &$0) }
        add(Tag.partials, unless: partials.isEmpty) { Self.encode(partials, to: &$0) }
        add(Tag.restrictions, unless: restrictions.isEmpty) { Self.encode(restrictions, to: &$0) }
        writer.unsigned(UInt64(sections.count))
        for section in sections {
            writer.unsigned(section.tag)
            writer.unsigned(UInt64(section.bytes.writer.count))
            writer.raw(section.bytes.writer.bytes)
        }
    }

    private func encodeChains(to writer: inout WireWriter) {
        writer.unsigned(UInt64(chains.count))
        for (replica, points) in chains.sorted(by: { $0.key < $1.key }) {
            writer.raw(replica.bytes)
            writer.unsigned(UInt64(points.count))
            for point in points {
                writer.unsigned(UInt64(bitPattern: point.sequence))
                writer.unsigned(UInt64(bitPattern: point.previous))
                writer.raw(point.hash.bytes)
            }
        }
    }

    /// Replicas come again and again in these vectors, so they are listed once.
    private func encode(_ known: [ReplicaID: VersionVector], to writer: inout WireWriter) {
        let replicas = Set(known.keys).union(known.values.flatMap { $0.sequences.keys }).sorted()
        let indexes = Dictionary(uniqueKeysWithValues: replicas.enumerated().map { ($1, UInt64($0)) })
        writer.unsigned(UInt64(replicas.count))
        for replica in replicas { writer.raw(replica.bytes) }
        writer.unsigned(UInt64(known.count))
        for (replica, vector) in known.sorted(by: { $0.key < $1.key }) {
            writer.unsigned(indexes[replica] ?? 0)
            writer.unsigned(UInt64(vector.sequences.count))
            for (origin, sequence) in vector.sequences.sorted(by: { $0.key < $1.key }) {
                writer.unsigned(indexes[origin] ?? 0)
                writer.unsigned(UInt64(bitPattern: sequence))
            }
        }
    }

    private func encodeRetirements(to writer: inout WireWriter) {
        writer.unsigned(UInt64(retirements.count))
        for retirement in retirements.sorted(by: { $0.replica < $1.replica }) {
            writer.raw(retirement.replica.bytes)
            writer.unsigned(UInt64(bitPattern: max(0, retirement.milliseconds)))
            writer.byte(retirement.reason.rawValue)
        }
    }

    /// Reads sections.
    init(from reader: inout WireReader, limits: WireLimits) throws(WireError) {
        self.init()
        let count = try reader.count(upTo: limits.sectionCountMax, "sections")
        var last: UInt64 = 0
        for _ in 0..<count {
            let tag = try reader.unsigned()
            guard tag > last else { throw WireError(.malformed, "section \(tag) comes after \(last)") }
            last = tag
            let length = try reader.unsigned()
            guard length <= UInt64(reader.remaining) else {
                throw WireError(.truncated, "a section announces \(length) bytes")
            }
            var section = WireReader(try reader.raw(Int(length)))
            switch tag {
            case Tag.chains: try readChains(&section, limits)
            case Tag.floor: floor = try VersionVector(from: &section, limits: limits)
            case Tag.known: known = try Self.readKnown(&section, limits)
            case Tag.retirements: try readRetirements(&section, limits)
            case Tag.place: place = try section.identifier()
            case Tag.digest: digest = try StateDigest(from: &section, limits: limits)
            case Tag.repair: isRepair = true
            case Tag.parts: parts = try Self.readParts(&section, limits)
            case Tag.acknowledged: acknowledged = try Self.readKnown(&section, limits)
            case Tag.partials: partials = try Self.readPartials(&section, limits)
            case Tag.restrictions: restrictions = try Self.readRestrictions(&section, limits)
            default: continue
            }
            guard section.isAtEnd else { throw WireError(.malformed, "section \(tag) has trailing bytes") }
        }
    }

    private mutating func readChains(_ reader: inout WireReader, _ limits: WireLimits) throws(WireError) {
        for _ in 0..<(try reader.count(upTo: limits.replicaCountMax, "chains")) {
            let replica = try reader.identifier()
            guard chains[replica] == nil else { throw WireError(.malformed, "a chain comes twice") }
            var points: [ChainPoint] = []
            for _ in 0..<(try reader.count(upTo: limits.chainPointCountMax, "points of a chain")) {
                let sequence = try reader.sequence()
                let previous = try reader.unsigned()
                guard previous < UInt64(sequence), points.last.map({ sequence < $0.sequence }) ?? true else {
                    throw WireError(.malformed, "the points of a chain are not in order")
                }
                let hash = try reader.identifier()
                points.append(ChainPoint(sequence: sequence, previous: Int64(previous), hash: hash))
            }
            chains[replica] = points
        }
    }

    private static func readKnown(
        _ reader: inout WireReader, _ limits: WireLimits
    ) throws(WireError) -> [ReplicaID: VersionVector] {
        var known: [ReplicaID: VersionVector] = [:]
        var replicas: [ReplicaID] = []
        for _ in 0..<(try reader.count(upTo: limits.replicaCountMax, "replicas")) {
            replicas.append(try reader.identifier())
        }
        for _ in 0..<(try reader.count(upTo: replicas.count, "known vectors")) {
            let replica = replicas[try reader.index(below: replicas.count, "replica")]
            guard known[replica] == nil else { throw WireError(.malformed, "a known vector comes twice") }
            var vector = VersionVector()
            for _ in 0..<(try reader.count(upTo: replicas.count, "entries of a vector")) {
                let origin = replicas[try reader.index(below: replicas.count, "replica")]
                let sequence = try reader.sequence()
                guard vector[origin] == 0 else {
                    throw WireError(.malformed, "a vector names a replica twice")
                }
                vector[origin] = sequence
            }
            known[replica] = vector
        }
        return known
    }

    private mutating func readRetirements(
        _ reader: inout WireReader, _ limits: WireLimits
    ) throws(WireError) {
        for _ in 0..<(try reader.count(upTo: limits.replicaCountMax, "retirements")) {
            let replica = try reader.identifier()
            guard retirements.last.map({ $0.replica < replica }) ?? true else {
                throw WireError(.malformed, "the retired replicas are not in order")
            }
            let milliseconds = try reader.unsigned()
            guard milliseconds <= UInt64(Int64.max) else {
                throw WireError(.malformed, "a time is too large")
            }
            guard let reason = Retirement.Reason(rawValue: try reader.byte()) else {
                throw WireError(.unsupported, "a replica was retired for an unknown reason")
            }
            retirements.append(
                Retirement(replica: replica, milliseconds: Int64(milliseconds), reason: reason))
        }
    }
}

/// A buffer that can be kept in an array.
private final class WireWriterBox {
    var writer = WireWriter(capacity: 256)
}

extension WireReader {
    /// Reads the number of a change.
    mutating func sequence() throws(WireError) -> Int64 {
        let sequence = try unsigned()
        guard sequence > 0, sequence <= UInt64(Int64.max) else {
            throw WireError(.malformed, "\(sequence) is not the number of a change")
        }
        return Int64(sequence)
    }
}

extension VersionVector {
    /// Writes the vector: the number of its entries, and each replica with its sequence.
    func encode(to writer: inout WireWriter) {
        writer.unsigned(UInt64(sequences.count))
        for (replica, sequence) in sequences.sorted(by: { $0.key < $1.key }) {
            writer.raw(replica.bytes)
            writer.unsigned(UInt64(bitPattern: sequence))
        }
    }

    /// Reads a vector.
    init(from reader: inout WireReader, limits: WireLimits) throws(WireError) {
        self.init()
        let count = try reader.count(upTo: limits.replicaCountMax, "entries of a vector")
        for _ in 0..<count {
            let replica = try reader.identifier()
            let sequence = try reader.unsigned()
            guard sequence > 0, sequence <= UInt64(Int64.max), self[replica] == 0 else {
                throw WireError(.malformed, "a version vector is not valid")
            }
            self[replica] = Int64(sequence)
        }
    }
}
