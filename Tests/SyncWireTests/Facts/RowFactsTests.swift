import TestSupport
import Testing

@testable import SyncWire

/// What greetings and bundles say of tables of which some rows only are held.
@Suite(.anyEngine) struct RowFactsTests {
    private let store = StoreID(high: 1, low: 2)
    private let replica = ReplicaID(high: 3, low: 4)

    private func facts() -> ReplicaFacts {
        var facts = ReplicaFacts()
        var partial = ReplicaFacts.Partial(
            names: ["note", "memo"], since: VersionVector([replica: 5, ReplicaID(high: 9, low: 9): 7]),
            own: VersionVector([replica: 8]), dropped: VersionVector([replica: 2]))
        partial.isWhole = true
        partial.wantsEverything = true
        facts.partials = [partial, ReplicaFacts.Partial(names: ["tag"])]
        facts.partials[1].isDue = true
        facts.restrictions = [
            ReplicaFacts.Restriction(
                table: "note", column: "workspace", values: [nil, -5, "ä\0", .blob([0, 255])],
                receiver: replica,
                revision: 12),
            ReplicaFacts.Restriction(table: "tag", column: "x", values: nil, receiver: replica, revision: 0),
        ]
        return facts
    }

    private func read(_ bytes: [UInt8], limits: WireLimits = WireLimits()) throws -> ReplicaFacts {
        try bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try ReplicaFacts(from: &reader, limits: limits)
        }
    }

    private func written(_ facts: ReplicaFacts) -> [UInt8] {
        var writer = WireWriter(capacity: 256)
        facts.encode(to: &writer)
        return Array(writer.bytes)
    }

    @Test func factsAreReadAsTheyWereWritten() throws {
        #expect(try read(written(facts())) == facts())
        let greeting = Greeting(
            store: store, replica: replica, vector: VersionVector(), ownSequence: 0, facts: facts())
        #expect(greeting.reach[replica] == 8)
        #expect(greeting.facts.partials.find(["other", "MEMO"])?.names.first == "note")
        // Nobody is behind in a table that is not to be compared.
        let other = Greeting(store: store, replica: store, vector: VersionVector(), ownSequence: 0)
        #expect(other.covers(greeting) && greeting.covers(other))
    }

    @Test func whatIsCutOrTooLongIsRefused() throws {
        let bytes = written(facts())
        for length in 0..<bytes.count {
            #expect(throws: WireError.self) { try read(Array(bytes.prefix(length))) }
        }
        var limits = WireLimits()
        limits.scopeValueCountMax = 3
        #expect(throws: WireError.self) { try read(bytes, limits: limits) }
        limits.scopeValueCountMax = 4
        #expect(throws: Never.self) { try read(bytes, limits: limits) }
        limits.columnTotalMax = 2
        #expect(throws: WireError.self) { try read(bytes, limits: limits) }
        var twice = facts()
        twice.restrictions.append(twice.restrictions[0])
        #expect(throws: WireError.self) { try read(written(twice)) }
    }

    @Test func valuesAreEqualByTypeAndContent() {
        let values: [ScopeValue] = [nil, 1, "1", .blob([0x31]), "e\u{301}", "\u{E9}", ""]
        for (index, value) in values.enumerated() {
            for (other, second) in values.enumerated() { #expect((value == second) == (index == other)) }
            #expect(value.withWireValue { ScopeValue($0) } == value)
        }
        #expect(Set(values).count == values.count)
        #expect(ScopeValue(WireValue.real(1)) == nil)
    }

    private func bundle(_ body: (inout BundleWriter) throws -> Void) throws -> [[UInt8]] {
        let collected = Collected()
        var writer = try BundleWriter(
            header: BundleHeader(
                store: store, sender: replica, base: VersionVector(), target: VersionVector([replica: 9]),
                replicas: [replica], tables: [.init(name: "note", key: "id", columns: ["a", "b"])]),
            sink: { collected.frames.append(Array($0)) })
        try body(&writer)
        try writer.finish()
        return collected.frames
    }

    private final class Collected {
        var frames: [[UInt8]] = []
    }

    @Test func aRowThatLeftHasAKeyALifeAndABase() throws {
        let key = [UInt8](repeating: 7, count: 16)
        let stamp = WireStamp(timestamp: 100, replica: 0, sequence: 3)
        let frames = try bundle { writer in
            key.withUnsafeBytes {
                writer.beginRow(
                    table: 0, key: $0, isTextKey: false, life: 3, base: stamp, mask: nil, cellCount: 0,
                    isLeave: true)
            }
            try writer.endRow()
            key.withUnsafeBytes {
                writer.beginRow(
                    table: 0, key: $0, isTextKey: false, life: 1, base: stamp, mask: nil, cellCount: 0)
            }
            writer.value(.integer(1))
            writer.value(.null)
            try writer.endRow()
        }
        var reader = BundleReader()
        var seen: [String] = []
        for frame in frames {
            try frame.withUnsafeBytes {
                try reader.consume(
                    $0, onHeader: { _ in },
                    onRow: {
                        seen.append("\($0.isLeave) \($0.life) \($0.base == stamp) \($0.baseValues.count)")
                    })
            }
        }
        #expect(seen == ["true 3 true 0", "false 1 true 2"])
    }
}
