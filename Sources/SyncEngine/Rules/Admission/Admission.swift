import SyncWire

/// Looks at what somebody says before anything of it is kept: whether it is within ``AdmissionLimits``.
///
/// It is asked for each bundle, each greeting and each row, on every way that leads to a store.
package enum Admission {
    /// Checks the header of a bundle.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle`.
    package static func check(_ header: BundleHeader) throws {
        try check(header.base)
        try check(header.target)
        try check(header.facts)
        for table in header.tables {
            for name in [table.name, table.key] + table.columns { try check(name) }
        }
    }

    /// Checks a greeting.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle`.
    static func check(_ greeting: Greeting) throws {
        try check(greeting.vector)
        try check(greeting.facts)
        guard greeting.ownSequence <= AdmissionLimits.sequenceMax else {
            throw refusal(greeting.replica, greeting.ownSequence)
        }
    }

    /// Checks a vector.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle`.
    static func check(_ vector: VersionVector) throws {
        for (replica, sequence) in vector.sequences where sequence > AdmissionLimits.sequenceMax {
            throw refusal(replica, sequence)
        }
    }

    private static func check(_ facts: ReplicaFacts) throws {
        try checkNames(facts)
        try check(facts.floor)
        for vector in facts.known.values { try check(vector) }
        for vector in facts.acknowledged.values { try check(vector) }
        for part in facts.parts {
            for vector in [part.base, part.target, part.floor] { try check(vector) }
        }
        for partial in facts.partials {
            for vector in [partial.since, partial.own, partial.dropped] { try check(vector) }
        }
        for (replica, points) in facts.chains {
            for point in points where point.sequence > AdmissionLimits.sequenceMax {
                throw refusal(replica, point.sequence)
            }
        }
        for retirement in facts.retirements
        where retirement.milliseconds > AdmissionLimits.millisecondsMax {
            throw SyncError(
                .invalidBundle,
                "replica \(retirement.replica.shortDescription) is said to be retired after the year 4199")
        }
        for restriction in facts.restrictions where restriction.revision > AdmissionLimits.sequenceMax {
            throw SyncError(
                .invalidBundle,
                "the number of a request, \(restriction.revision), is higher than any store gives")
        }
    }

    private static func checkNames(_ facts: ReplicaFacts) throws {
        for names in facts.parts.flatMap(\.tables) + facts.partials.map(\.names) {
            for name in names { try check(name) }
        }
        for restriction in facts.restrictions {
            for name in [restriction.table, restriction.column] { try check(name) }
        }
        for table in facts.digest?.tables ?? [] {
            for name in table.names + table.columns.flatMap(\.names) { try check(name) }
        }
    }

    private static func check(_ name: String) throws {
        guard name.utf8.count <= AdmissionLimits.nameByteCountMax else {
            throw SyncError(
                .invalidBundle,
                "a name has \(name.utf8.count) bytes, and \(AdmissionLimits.nameByteCountMax) are the most that a store takes in"
            )
        }
        // SQLite's NOCASE compares up to it: two names that differ behind it would be one in the metadata.
        guard !name.utf8.contains(0) else {
            throw SyncError(.invalidBundle, "a name has a zero byte, which no table or column has")
        }
    }

    private static func refusal(_ replica: ReplicaID, _ sequence: Int64) -> SyncError {
        SyncError(
            .invalidBundle,
            "change \(sequence) of replica \(replica.shortDescription) is named, a number that no replica reaches"
        )
    }

    /// Checks a row's life.
    @inline(__always)
    static func check(life: Int64) throws {
        guard life <= AdmissionLimits.lifeMax else {
            throw SyncError(.invalidBundle, "a row is in life \(life), which no row reaches")
        }
    }
}
