/// The later write stands, as in columns without a policy.
struct LastWriterPolicy: CellPolicy {
    let word = "last writer"
}
