/// The column counts: its value is a base and the shares of replicas, which never conflict (see ``CounterShare``).
struct CounterPolicy: CellPolicy {
    let word = "counter"
    /// What replicas that have not heard of a change back would add could not be told from what they write.
    let isPermanent = true
    let keepsCells = true
}
