import SyncEngine
import Synchronization

/// The time and the random numbers of a run.
///
/// There is one true time, and each replica has a clock that may differ from it.
final class SimulatedClock: Sendable {
    private struct State {
        // 2026-01-01.
        var milliseconds: Int64 = 1_767_225_600_000
        var skews: [Int: Int64] = [:]
        var random: SimulationRandom
    }

    private let state: Mutex<State>
    let places = SimulatedPlaces()

    init(seed: UInt64) { state = Mutex(State(random: SimulationRandom(seed: seed, part: 1))) }

    func advance(_ milliseconds: Int64) { state.withLock { $0.milliseconds += milliseconds } }

    func setSkew(_ milliseconds: Int64, of replica: Int) {
        state.withLock { $0.skews[replica] = milliseconds }
    }

    /// The time by a replica's clock.
    func now(_ replica: Int) -> Int64 { state.withLock { $0.milliseconds + ($0.skews[replica] ?? 0) } }

    func environment(of replica: Int) -> SyncEnvironment {
        SyncEnvironment(
            milliseconds: { self.now(replica) }, random: { self.state.withLock { $0.random.next() } },
            places: places, skewMillisecondsMax: ModelReplica.skewMillisecondsMax)
    }
}
