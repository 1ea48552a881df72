import Testing

@testable import CipherStore

/// The state machine of an observation of a pool, against a database that is
/// only counted.
@Suite struct ConcurrentTrackingTests {
    /// Four tables with versions. What an observation reads depends on the first.
    private struct Model {
        var tracking = ConcurrentTracking()
        var versions = [0, 0, 0, 0]
        var commitCount = 0
        var watched = DatabaseRegion()
        var isFetchScheduled = true
        var isAccessScheduled = false
        /// The fetch that runs: the commits before its snapshot, and what is in it.
        var fetch: (commitCount: Int, versions: [Int])?
        var latest: [Int]?
        var told: [DatabaseRegion] = []

        static func tables(_ versions: [Int]) -> [Int] { [0, 1 + versions[0] % 3] }

        static func region(_ versions: [Int]) -> DatabaseRegion {
            tables(versions).reduce(DatabaseRegion()) { $0.union(DatabaseRegion(table: "t\($1)")) }
        }

        static func value(_ versions: [Int]) -> [Int] { tables(versions).map { versions[$0] } }

        mutating func commit(_ table: Int) {
            versions[table] += 1
            commitCount += 1
            if watched.contains(table: "t\(table)") { schedule(tracking.regionChanges()) }
        }

        private mutating func schedule(_ schedulesFetch: Bool) {
            guard schedulesFetch else { return }
            #expect(!isFetchScheduled && fetch == nil)
            isFetchScheduled = true
        }

        mutating func beginFetch(thenCommitting table: Int?) {
            guard isFetchScheduled, fetch == nil else { return }
            isFetchScheduled = false
            tracking.fetchBegins()
            let commitCount = commitCount
            fetch = (commitCount, versions)
            // A commit may come between the count and the snapshot.
            if let table { commit(table) }
            fetch = (commitCount, versions)
        }

        mutating func endFetch() {
            guard let fetch else { return }
            let actions = tracking.fetchFinds(
                region: Self.region(fetch.versions), commitCount: fetch.commitCount)
            latest = Self.value(fetch.versions)
            perform(actions)
            self.fetch = nil
            schedule(tracking.fetchEnds())
        }

        mutating func runAccess() {
            guard isAccessScheduled else { return }
            isAccessScheduled = false
            perform(tracking.accessBegins(commitCount: commitCount))
        }

        private mutating func perform(_ actions: ConcurrentTracking.Actions) {
            if let region = actions.watchedRegion { watched = region }
            if let region = actions.toldRegion { told.append(region) }
            if actions.schedulesAccess {
                #expect(!isAccessScheduled)
                isAccessScheduled = true
            }
            schedule(actions.schedulesFetch)
        }

        /// Lets everything end that is scheduled.
        mutating func settle() {
            while isFetchScheduled || fetch != nil || isAccessScheduled {
                runAccess()
                beginFetch(thenCommitting: nil)
                endFetch()
            }
        }
    }

    @Test(arguments: 0..<200) func theLastFetchSawTheLastChange(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Model()
        for _ in 0..<Int.random(in: 1...200, using: &random) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: model.commit(Int.random(in: 0..<4, using: &random))
            case 2:
                model.beginFetch(
                    thenCommitting: Bool.random(using: &random) ? Int.random(in: 0..<4, using: &random) : nil)
            case 3: model.endFetch()
            default: model.runAccess()
            }
        }
        model.settle()
        #expect(model.latest == Model.value(model.versions))
        #expect(model.watched == Model.region(model.versions))
        // Each region is told once while it counts, and the last one is.
        #expect(model.told.last == model.watched)
        #expect(zip(model.told, model.told.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func aQuietStartFetchesOnce() {
        var model = Model()
        model.beginFetch(thenCommitting: nil)
        model.endFetch()
        #expect(model.isAccessScheduled && !model.isFetchScheduled)
        model.runAccess()
        #expect(!model.isFetchScheduled)
        // Nobody reads this table.
        model.commit(3)
        #expect(!model.isFetchScheduled)
        model.commit(1)
        #expect(model.isFetchScheduled)
    }

    @Test func aCommitBeforeTheRegionIsWatchedIsFetched() {
        var model = Model()
        model.beginFetch(thenCommitting: nil)
        model.endFetch()
        model.commit(3)
        model.runAccess()
        #expect(model.isFetchScheduled)
    }
}
