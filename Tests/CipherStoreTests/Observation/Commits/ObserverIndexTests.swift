import Testing

@testable import CipherStore

/// Who is asked about the changes of which table.
@Suite struct ObserverIndexTests {
    /// Counts how often it is asked.
    private final class Asked: TransactionObserver {
        var kinds: [DatabaseEventKind] = []
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            kinds.append(eventKind)
            return true
        }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    private static func observation(_ observer: any TransactionObserver, _ number: Int)
        -> TransactionObservation
    {
        let observation = TransactionObservation(observer, extent: .observerLifetime)
        observation.number = number
        return observation
    }

    @Test func observersComeInTheOrderInWhichTheyWereAdded() {
        let regions = [
            DatabaseRegion(table: "T"), .fullDatabase, DatabaseRegion(table: "u"),
            DatabaseRegion(table: "t").union(DatabaseRegion(table: "u")), DatabaseRegion(),
        ]
        let observers = regions.map { RegionObserver($0) { _ in } }
        let asked = Asked()
        let all = (observers as [any TransactionObserver]) + [asked]
        let observations = all.enumerated().map { Self.observation($1, $0 + 1) }
        let index = ObserverIndex(observations)
        func numbers(_ kind: DatabaseEventKind) -> [Int] { index.observations(of: kind).map(\.number) }
        #expect(numbers(.insert(tableName: "t")) == [1, 2, 4, 6])
        #expect(numbers(.delete(tableName: "U")) == [2, 3, 4, 6])
        #expect(numbers(.insert(tableName: "v")) == [2, 6])
        #expect(asked.kinds.count == 3)
        withExtendedLifetime(observers) {}
    }

    @Test func anObserverIsToldNothingWhoseColumnsDoNotChange() {
        let observer = RegionObserver(DatabaseRegion(table: "t", columns: ["a"])) { _ in }
        let index = ObserverIndex([Self.observation(observer, 1)])
        #expect(index.observations(of: .update(tableName: "t", columnNames: ["B"])).isEmpty)
        #expect(index.observations(of: .update(tableName: "t", columnNames: ["A", "b"])).count == 1)
    }

    @Test func whoIsGoneIsNotAsked() {
        var observer: RegionObserver? = RegionObserver(DatabaseRegion(table: "t")) { _ in }
        let observation = observer.map { Self.observation($0, 1) }
        let removed = Asked()
        let ended = Self.observation(removed, 2)
        let index = ObserverIndex([observation, ended].compactMap { $0 })
        #expect(index.observations(of: .insert(tableName: "t")).count == 2)
        observer = nil
        ended.end()
        #expect(index.observations(of: .insert(tableName: "t")).isEmpty)
        #expect(observer == nil)
    }
}
