// REPLACE fires the delete triggers that track a table only with recursive triggers, so every connection
// to a tracked store has them: one that was open before tracking began, too.

extension Database {
    /// Sees to it that tracking sees every change, if the store is tracked.
    func useRecursiveTriggersIfTracked() throws {
        // The version comes first: tracking that begins in between is found by the next look.
        let version = try version(of: .main)
        let isTracked =
            try Bool.fetchOne(
                self,
                sql: """
                    SELECT EXISTS(SELECT 1 FROM sqlite_master
                    WHERE type = 'trigger' AND \(SyncNames.condition()))
                    """) ?? false
        if isTracked { try execute(sql: "PRAGMA recursive_triggers = ON") }
        schema.trackingVersion = version
        // Without others, tracking begins on this connection, and turns them on itself.
        schema.isTrackingSettled = isTracked || !isShared || configuration.readonly
        schema.looksForTracking = !schema.isTrackingSettled
    }

    /// Sees to it that tracking which another connection has begun sees every change of this one.
    ///
    /// It is called before the first change of a transaction, until the store is known to be tracked, and
    /// reads a number of a page that the change needs anyway. What can't be read now is left for the next
    /// look: the change itself says why.
    func noticeTracking() {
        do {
            try protected {
                try authorizer.trusting {
                    guard try version(of: .main) != schema.trackingVersion else { return }
                    try authorizer.keepingEffects {
                        try withoutTracing { try useRecursiveTriggersIfTracked() }
                    }
                }
            }
        } catch {
            return
        }
        // With the lock, or a snapshot, nobody else can begin it any more.
        if isInsideTransaction { schema.looksForTracking = false }
    }
}
