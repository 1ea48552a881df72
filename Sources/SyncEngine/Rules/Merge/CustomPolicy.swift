import SyncWire

/// A function of the app makes one value of two.
struct CustomPolicy: CellPolicy {
    let word = "custom"
    let functionName: String
    let decidesConflicts = true

    func outcome(lost: WireValue, won: WireValue) -> ConflictOutcome { .made(function: functionName) }
}
