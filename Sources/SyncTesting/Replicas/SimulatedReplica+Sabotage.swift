import CipherStore

extension SimulatedReplica {
    /// Breaks the engine's work, for tests of the simulator.
    func sabotage(_ sabotage: Sabotage) throws {
        try queue.write { db in
            // It mutes the triggers.
            try db.execute(sql: "UPDATE _sync_state SET applying = 1")
            switch sabotage {
            case .losesRow:
                try db.execute(sql: "DELETE FROM note WHERE id = (SELECT max(id) FROM note)")
            case .prefersOlderValue:
                try db.execute(sql: "UPDATE note SET title = 'older' WHERE title IS NOT NULL")
            case .missesUpdates:
                return
            case .tellsRemoved:
                break
            case .forgetsConflicts:
                try db.execute(sql: "DELETE FROM _sync_conflict")
            case .forgesChains:
                try db.execute(
                    sql: """
                        CREATE TRIGGER IF NOT EXISTS forged AFTER INSERT ON _sync_chain BEGIN
                            UPDATE _sync_chain SET hash = zeroblob(16) WHERE hash <> zeroblob(16);
                        END;
                        UPDATE _sync_chain SET hash = zeroblob(16);
                        """)
            case .skipsBundle:
                try db.execute(
                    sql:
                        "UPDATE _sync_replica SET oseq = oseq + 1 WHERE sid <> (SELECT self FROM _sync_state)"
                )
            }
            try db.execute(sql: "UPDATE _sync_state SET applying = 0")
        }
        try readRows()
    }

    /// Ends what ``sabotage(_:)`` does to chains: a store is not cloned while anything stands on its metadata.
    func stopForging() throws { try queue.write { try $0.execute(sql: "DROP TRIGGER IF EXISTS forged") } }
}
