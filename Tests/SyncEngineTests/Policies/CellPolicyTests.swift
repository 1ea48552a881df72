import SyncWire
import Testing

@testable import SyncEngine

/// What the policies say of themselves.
@Suite struct CellPolicyTests {
    private static let kinds: [ColumnPolicy.Kind] = [
        .lastWriter, .counter, .custom(name: "lines"), .max, .min,
    ]

    @Test func eachKindIsReadFromItsOwnWord() {
        for kind in Self.kinds {
            #expect(ColumnPolicy.Kind(word: kind.word, functionName: kind.policy.functionName) == kind)
        }
        #expect(Set(Self.kinds.map(\.word)).count == Self.kinds.count)
        #expect(ColumnPolicy.Kind(word: "greatest", functionName: "") == nil)
    }

    @Test func aCounterStandsAboveAllOthersAndOfTheseTheLaterOne() {
        for kind in Self.kinds {
            for isNewer in [true, false] {
                #expect(!kind.replaces(.counter, isNewer: isNewer))
                guard kind != .counter else { continue }
                #expect(ColumnPolicy.Kind.counter.replaces(kind, isNewer: isNewer))
                #expect(kind.replaces(.max, isNewer: isNewer) == isNewer)
            }
        }
    }

    @Test func onlyPoliciesThatDecideAreAskedForAnOutcome() {
        for kind in Self.kinds {
            let outcome = kind.policy.outcome(lost: .integer(2), won: .integer(1))
            #expect(kind.policy.decidesConflicts == (outcome != .latest))
        }
        #expect(ColumnPolicy.Kind.separateWords == "'counter'")
    }
}
