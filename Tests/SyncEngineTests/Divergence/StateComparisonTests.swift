import SyncWire
import Testing

@testable import SyncEngine

/// How the tables of two digests are matched.
@Suite struct StateComparisonTests {
    private func digest(_ tables: [[String]]) -> StateDigest {
        StateDigest(
            tables: tables.map {
                StateDigest.Table(
                    names: $0, rows: DigestSum(count: 1, first: 2, second: 3), columns: [])
            })
    }

    @Test func aTableIsComparedOnceHoweverManyHaveItsName() {
        let remote = digest((0..<100).map { ["x\($0)", "item"] } + [["elsewhere"]])
        let comparison = StateComparison(digest([["item"], ["here"]]), remote)
        #expect(comparison.tables.map(\.name) == ["item", "here", "elsewhere"])
        #expect(comparison.differing.map(\.name) == ["here", "elsewhere"])
    }

    @Test func aTableIsFoundByItsOtherNames() {
        let comparison = StateComparison(digest([["task", "todo"]]), digest([["todo", "job"], ["job"]]))
        #expect(comparison.tables.map(\.names) == [["task", "todo", "job"], ["job"]])
    }
}
