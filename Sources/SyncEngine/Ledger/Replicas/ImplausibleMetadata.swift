import CipherStore
import SyncWire

/// What a peer said that no store takes in any more, and that is in a file nevertheless: a program before the present
/// ``AdmissionLimits`` took it in, or another program wrote it. Other stores refuse the bundles of such a file.
///
/// ``MetadataCheck`` names it, and ``MetadataRepair`` takes it out.
struct ImplausibleMetadata {
    let db: Database
    let metadata: StoreMetadata

    private static let end = AdmissionLimits.timestampMax
    private static let sequenceMax = AdmissionLimits.sequenceMax

    /// The rows `r` of `_sync_row` whose stamps, or those of their cells, are beyond what other stores take in.
    static let isStampBeyond = "(\(isStampAfterEnd) OR \(isStampBeforeBeginning))"

    private static let isStampAfterEnd = """
        (typeof(r.hlc) <> 'integer' OR r.hlc > \(end) OR typeof(r.oseq) <> 'integer' OR r.oseq > \(sequenceMax)
         OR EXISTS (SELECT 1 FROM _sync_cell AS c WHERE c.r = r.r AND (
            typeof(c.hlc) <> 'integer' OR c.hlc > \(end) OR typeof(c.oseq) <> 'integer' OR c.oseq > \(sequenceMax))))
        """

    /// No time is negative, and changes are numbered from 1 on.
    private static let isStampBeforeBeginning = """
        (r.hlc < 0 OR r.oseq < 1 OR EXISTS (
            SELECT 1 FROM _sync_cell AS c WHERE c.r = r.r AND (c.hlc < 0 OR c.oseq < 1)))
        """

    /// The rows `r` that are in a life beyond the last one.
    static let isLifeBeyond = "(typeof(r.cl) <> 'integer' OR r.cl < 1 OR r.cl > \(AdmissionLimits.lifeMax))"

    /// The tables with numbers of changes of other replicas, beside `_sync_replica`.
    static let sequenceTables = [
        "_sync_known", "_sync_acknowledged", "_sync_floor", "_sync_coverage", "_sync_chain",
    ]

    /// The replicas `p` of which nothing is here: no change, no stamp, nothing that they know or are waited for with. Their
    /// identifiers came with what somebody said of others.
    static let isUnheardOf = """
        (p.oseq = 0 AND p.sid <> (SELECT self FROM _sync_state)
         AND NOT EXISTS (SELECT 1 FROM _sync_row AS r WHERE r.sid = p.sid)
         AND NOT EXISTS (SELECT 1 FROM _sync_cell AS c WHERE c.sid = p.sid)
         AND p.sid NOT IN (SELECT sid FROM _sync_known) AND p.sid NOT IN (SELECT sid FROM _sync_acknowledged)
         AND p.sid NOT IN (SELECT sid FROM _sync_retired) AND p.sid NOT IN (SELECT sid FROM _sync_floor)
         AND p.sid NOT IN (SELECT sid FROM _sync_coverage) AND p.sid NOT IN (SELECT sid FROM _sync_chain)
         AND p.sid NOT IN (SELECT sid FROM _sync_conflict) AND p.sid NOT IN (SELECT won FROM _sync_conflict)
         AND p.rid NOT IN (SELECT rid FROM _sync_peer)
         AND p.rid NOT IN (SELECT replica FROM _sync_device WHERE replica IS NOT NULL))
        """

    /// The tables `t` that are not here, and of which nobody sent a row.
    static let isEmptyElsewhere = """
        (t.tracked = 0 AND NOT EXISTS (SELECT 1 FROM _sync_row AS r WHERE r.tbl = t.tbl)
         AND t.tbl NOT IN (SELECT tbl FROM _sync_conflict))
        """

    /// The columns `c` that are not here, and of which nobody sent a value.
    static let isUnusedElsewhere = """
        (c.present = 0 AND NOT EXISTS (SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = c.tbl AND s.col = c.col)
         AND NOT EXISTS (SELECT 1 FROM _sync_share AS h WHERE h.tbl = c.tbl AND c.col IN (h.col, h.counter))
         AND NOT EXISTS (SELECT 1 FROM _sync_conflict AS k WHERE k.tbl = c.tbl AND k.col = c.col)
         AND NOT EXISTS (SELECT 1 FROM _sync_part AS b JOIN _sync_row AS r ON r.r = b.r
            WHERE r.tbl = c.tbl AND b.col = c.col)
         AND NOT EXISTS (SELECT 1 FROM _sync_cell AS e JOIN _sync_row AS r ON r.r = e.r
            WHERE r.tbl = c.tbl AND e.col = c.col))
        """

    /// The columns `c` for which somebody declared how they are merged.
    static let hasPolicy = """
        EXISTS (SELECT 1 FROM _sync_policy AS y WHERE y.tbl = c.tbl AND y.col = c.col)
        """

    // MARK: Finding

    /// What there is, in words.
    func problems() throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        func add(_ table: String, _ text: String) {
            problems.append(
                StoreProblem(
                    .metadata, "\(text); other stores refuse bundles with it: run `syncctl compact`",
                    table: table))
        }
        let later = try count("_sync_row AS r WHERE \(Self.isStampAfterEnd)")
        if later > 0 { add("_sync_row", "\(Self.rows(later)) a version from after the year 4199") }
        let earlier = try count("_sync_row AS r WHERE \(Self.isStampBeforeBeginning)")
        if earlier > 0 {
            add("_sync_row", "\(Self.rows(earlier)) a version below those of any change")
        }
        let lives = try count("_sync_row AS r WHERE \(Self.isLifeBeyond)")
        if lives > 0 { add("_sync_row", "\(Self.rows(lives)) a life that no row reaches") }
        for table in ["_sync_replica"] + Self.sequenceTables where try count(Self.beyond(table)) > 0 {
            add(table, "\(table) has a number of a change that no replica reaches")
        }
        if try count("_sync_policy WHERE \(Self.isPolicyBeyond)") > 0 {
            add("_sync_policy", "a merge policy is from after the year 4199")
        }
        if try count("_sync_retired WHERE \(Self.isRetirementBeyond)") > 0 {
            add("_sync_retired", "a replica was retired after the year 4199")
        }
        if metadata.isClockBeyond {
            problems.append(
                StoreProblem(
                    .metadata,
                    "the clock of the store is after the year 4199 and counts for nothing: run `syncctl compact`",
                    table: "_sync_state"))
        }
        if try count(NameAliases.crowded) > 0 {
            add("_sync_alias", "a table or column has more other names than others read")
        }
        let capacity = try Capacity(db)
        do {
            try Capacity.requireRoomForReplicas(db)
        } catch let error as SyncError {
            problems.append(StoreProblem(.metadata, error.message, table: "_sync_replica"))
        }
        do {
            try capacity.requireRoomForNames(db)
        } catch let error as SyncError {
            problems.append(StoreProblem(.metadata, error.message, table: "_sync_table"))
        }
        return problems
    }

    static func beyond(_ table: String) -> String {
        "\(table) WHERE typeof(oseq) <> 'integer' OR oseq > \(sequenceMax)"
    }

    static let isPolicyBeyond = "typeof(hlc) <> 'integer' OR hlc > \(end)"

    static let isRetirementBeyond = "typeof(at) <> 'integer' OR at > \(AdmissionLimits.millisecondsMax)"

    private func count(_ rest: String) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(rest)") ?? 0
    }

    private static func rows(_ count: Int64) -> String { count == 1 ? "1 row has" : "\(count) rows have" }
}
