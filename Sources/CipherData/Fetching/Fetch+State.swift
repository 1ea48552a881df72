extension Fetch {
    /// Whether the first value of a request is still to come.
    public var isLoading: Bool { box.isLoading }

    /// Why there is no new value: the error of the last fetch, until one succeeds.
    public var loadError: (any Error)? { box.error }

    /// The value, and each that follows. A loop that is slow sees the last one only.
    public var values: AsyncStream<Value> { box.values() }

    /// Fetches once more, and waits for it.
    ///
    /// - throws: What the fetch throws.
    public func load() async throws { try await box.reload() }
}
