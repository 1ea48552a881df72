import TestSupport
import Testing

@testable import SyncWire

/// The coding of digests, and of the questions that replicas ask each other.
@Suite(.anyEngine) struct StateCodingTests {
    private static let sum = DigestSum(count: 300, first: 1, second: UInt64.max)
    private static let vector = VersionVector([Identifier128(high: 1, low: 2): 7])
    private static let digest = StateDigest(tables: [
        .init(
            names: ["note", "memo"], rows: sum,
            columns: [
                .init(names: ["title"], isPresent: true, cells: sum),
                .init(names: ["b"], isPresent: false, cells: DigestSum()),
            ]),
        .init(names: ["tag"], rows: DigestSum(), columns: []),
    ])
    private static let state = ReplicaState(
        vector: vector,
        parts: [.init(tables: [["note", "memo"]], target: VersionVector([ReplicaID(high: 1, low: 9): 4]))],
        digest: digest)
    private static let keys = [
        StateRowKey(bytes: Array(repeating: 7, count: 16), isText: false),
        StateRowKey(bytes: Array("0000000a-0000-4000-8000-000000000000".utf8), isText: true),
    ]
    private static let question = StateQuestion(
        table: ["note", "memo"],
        columns: [
            .init(names: ["title"], includesValues: true), .init(names: ["b", "c"], includesValues: false),
        ],
        buckets: [0, 7, 255])
    private static let answer = StateAnswer(
        vector: vector, sums: [sum, DigestSum()], rows: [keys[0]: sum, keys[1]: DigestSum()])
    private static let rows = [StateRows(table: ["note"], keys: keys), StateRows(table: ["tag"], keys: [])]

    /// Reads bytes as a message and writes it again.
    private typealias Coding = @Sendable ([UInt8]) throws -> [UInt8]

    private static let codings: [(bytes: [UInt8], again: Coding)] = [
        (state.encode(), { try $0.withUnsafeBytes { try ReplicaState(bytes: $0).encode() } }),
        (question.encode(), { try $0.withUnsafeBytes { try StateQuestion(bytes: $0).encode() } }),
        (answer.encode(), { try $0.withUnsafeBytes { try StateAnswer(bytes: $0).encode() } }),
        (StateRows.encode(rows), { try $0.withUnsafeBytes { StateRows.encode(try StateRows.decode($0)) } }),
    ]

    @Test func whatWasWrittenIsRead() throws {
        let state = try Self.state.encode().withUnsafeBytes { try ReplicaState(bytes: $0) }
        #expect(state == Self.state)
        let question = try Self.question.encode().withUnsafeBytes { try StateQuestion(bytes: $0) }
        #expect(question == Self.question)
        let answer = try Self.answer.encode().withUnsafeBytes { try StateAnswer(bytes: $0) }
        #expect(answer == Self.answer)
        let rows = try StateRows.encode(Self.rows).withUnsafeBytes { try StateRows.decode($0) }
        #expect(rows == Self.rows)
    }

    @Test func greetingsHaveDigestsAndKeepTheRest() throws {
        var facts = ReplicaFacts()
        facts.digest = Self.digest
        facts.isRepair = true
        facts.place = Identifier128(high: 3, low: 4)
        let greeting = Greeting(
            store: Identifier128(high: 1, low: 1), replica: Identifier128(high: 1, low: 2),
            vector: Self.vector,
            ownSequence: 7, facts: facts)
        let read = try greeting.encode().withUnsafeBytes { try Greeting(frame: $0) }
        #expect(read == greeting)
    }

    @Test func messagesThatAreCutOrHaveTrailingBytesAreRefused() throws {
        for (bytes, again) in Self.codings {
            for length in 0..<bytes.count {
                #expect(throws: WireError.self) { try again(Array(bytes.prefix(length))) }
            }
            #expect(throws: WireError.self) { try again(bytes + [0]) }
        }
    }

    @Test func randomBytesNeverTrap() throws {
        var random = SplitMix64(seed: 9)
        for (bytes, again) in Self.codings {
            for _ in 0..<1000 {
                var damaged = bytes
                for _ in 0...(random.next() % 4) {
                    damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(
                        truncatingIfNeeded: random.next())
                }
                guard let read = try? again(damaged) else { continue }
                #expect(try again(read) == read)
            }
        }
    }

    /// Empty names are short, and take sixteen times as much memory.
    @Test func namesAreCountedInAll() throws {
        var limits = WireLimits()
        limits.columnTotalMax = 4
        func code(_ body: () throws -> Void) -> WireError.Code? {
            do {
                try body()
                return nil
            } catch {
                return (error as? WireError)?.code
            }
        }
        for (more, refusal) in [(0, nil), (1, WireError.Code.tooLarge)] as [(Int, WireError.Code?)] {
            let names = [String](repeating: "", count: 2 + more)
            let question = StateQuestion(
                table: ["", ""], columns: [.init(names: names, includesValues: false)]
            ).encode()
            let rows = StateRows.encode([
                StateRows(table: ["", ""], keys: []), StateRows(table: names, keys: []),
            ])
            let state = ReplicaState(
                vector: VersionVector(),
                digest: StateDigest(tables: [
                    .init(
                        names: ["", ""], rows: DigestSum(),
                        columns: [.init(names: names, isPresent: true, cells: DigestSum())])
                ])
            ).encode()
            #expect(
                code { _ = try question.withUnsafeBytes { try StateQuestion(bytes: $0, limits: limits) } }
                    == refusal)
            #expect(
                code { _ = try rows.withUnsafeBytes { try StateRows.decode($0, limits: limits) } } == refusal)
            #expect(
                code { _ = try state.withUnsafeBytes { try ReplicaState(bytes: $0, limits: limits) } }
                    == refusal)
        }
    }

    @Test func keysAreShownAsUUIDs() {
        #expect(
            Self.keys.map(\.description) == [
                "07070707-0707-0707-0707-070707070707", "0000000a-0000-4000-8000-000000000000",
            ])
    }
}
