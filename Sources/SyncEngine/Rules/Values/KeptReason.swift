/// The words by which the engine itself says why values are kept.
enum KeptReason {
    /// Why values are kept whose table or column was dropped here. They don't wait
    /// for anything: they are kept for peers, and for a column that comes back.
    static let dropped = "dropped here"

    /// Why values are kept that belong to a column which this store does not have.
    static let noColumn = "no such column"

    /// Why rows are kept whose table this store does not have, or does not track.
    static let noTable = "no such table"

    /// What the engine itself says of values that are kept.
    static let all = [dropped, noColumn, noTable]
}
