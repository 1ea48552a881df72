import SyncEngine
import Synchronization

/// Where the files of a run are, as their stores see it: whether one notices that it was copied
/// or restored is for the run to say.
final class SimulatedPlaces: StorePlaces {
    private struct State {
        var isBlind = false
        var count = 0
        var files: [String: StorePlace] = [:]
    }

    private let state = Mutex(State())

    /// Files have no places from now on, as on systems that tell nothing of them.
    func blind() { state.withLock { $0.isBlind = true } }

    func place(of path: String) -> StorePlace? {
        state.withLock { state in
            if state.isBlind { return nil }
            if state.files[path] == nil {
                state.count += 1
                state.files[path] = StorePlace(machine: "machine", identity: "file \(state.count)")
            }
            return state.files[path]
        }
    }

    func setMark(_ mark: [UInt8], of path: String) -> Bool {
        guard place(of: path) != nil else { return false }
        state.withLock { state in
            state.files[path]?.mark = mark
            // As in the attributes of a real file.
            state.files[path]?.predecessors = []
        }
        return true
    }

    /// A file is at another place, or, when it is nil, at one that no store was at.
    func put(_ place: StorePlace?, at path: String) { state.withLock { $0.files[path] = place } }
}
