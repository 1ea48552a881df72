-- The sync metadata of a store, version 3. v3.md says how they are written.
--
-- The tables live in the encrypted file beside the user's tables. Names that
-- begin with _sync_ are reserved. A program that finds another version in
-- _sync_state.format must not write to a tracked table's metadata.
--
-- Version 2 has _sync_alias, the value -1 of _sync_table.tracked and
-- _sync_column.present, and the operation 4 of _sync_log. A store of version 1
-- becomes one of version 2 by the table _sync_alias. A store of version 2
-- becomes one of version 3 by the tables and columns at the end of this file.
--
-- Numbers that name things (sid, tbl, col) are local to the file; on the wire,
-- replicas are 16-byte ids, and tables and columns are names.

-- One row: what the store is and how far it has come.
CREATE TABLE _sync_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,               -- the version of this schema: 3
    store BLOB NOT NULL,                   -- 16 bytes, the same in all replicas of the database
    self INTEGER NOT NULL,                 -- the sid of this replica
    applying INTEGER NOT NULL DEFAULT 0,   -- 1 inside of the transaction that writes a peer's changes: mutes the triggers
    clock INTEGER NOT NULL DEFAULT 0,      -- the last hybrid timestamp given or adopted: milliseconds << 16 | counter
    folded INTEGER NOT NULL DEFAULT 0      -- the last _sync_log.seq that has versions
);

-- The replicas that are known, and how much of each is known: the version vector.
CREATE TABLE _sync_replica (
    sid INTEGER PRIMARY KEY,
    rid BLOB NOT NULL UNIQUE,              -- 16 random bytes
    oseq INTEGER NOT NULL DEFAULT 0,       -- the last of its changes that is here
    seen INTEGER                           -- when something new of it last came, Unix milliseconds; when it was met: _sync_peer.at
);

-- The tables that are known, here or at a peer.
CREATE TABLE _sync_table (
    tbl INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    key TEXT NOT NULL,                     -- the name of its key column
    tracked INTEGER NOT NULL               -- 1 when the table is here and has its triggers; -1 when it was dropped here:
                                           -- its rows are kept in the table _sync_dropped_<tbl>, of its key and columns;
                                           -- _sync_dropped_<tbl>_base beside it: the user's table is there, untracked;
                                           -- _sync_dropped_<tbl>_known (sid, oseq), which may be missing: the last changes
                                           -- of replicas that were here at the drop, lowered when _sync_replica.oseq is
);

-- Their columns other than the key.
CREATE TABLE _sync_column (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,                  -- from 0; never given twice
    name TEXT NOT NULL COLLATE NOCASE,
    present INTEGER NOT NULL,              -- 1 when the table here has the column; -1 when it was dropped here
    PRIMARY KEY (tbl, col),
    UNIQUE (tbl, name)
) WITHOUT ROWID;

-- What the triggers append, and what a merge does for its own edits: of orphans, and a deletion (3) of a row that
-- is gone, which is re-issued in the same life because its writer did not know the row that it ended somewhere.
-- Entries up to _sync_state.folded are history. How the others become versions, and what the triggers are: v3.md.
CREATE TABLE _sync_log (
    seq INTEGER PRIMARY KEY,               -- the sequence of the change on the wire
    tbl INTEGER NOT NULL,
    op INTEGER NOT NULL,                   -- 1 insert, 2 update, 3 delete, 4 update by a migration, 0 a mark; of 2 and 4, op >> 4 is the group of columns
    pk NOT NULL,                           -- the row's key as the table holds it: 16-byte blob or 36-character text
    mask INTEGER NOT NULL,                 -- of an update: bit n is column 60 * group + n
    ms INTEGER NOT NULL                    -- when, Unix milliseconds by the writer's clock
);

-- The last entry numbers the next one: were it gone, numbers would repeat.
CREATE TRIGGER _sync_log_guard BEFORE DELETE ON _sync_log
WHEN OLD.seq = (SELECT max(seq) FROM _sync_log) BEGIN
    SELECT RAISE(ABORT, 'the last entry of the change log has to stay: it numbers the next one');
END;

-- The version of each row: the last write of the whole row, or its deletion.
CREATE TABLE _sync_row (
    r INTEGER PRIMARY KEY,
    tbl INTEGER NOT NULL,
    pk NOT NULL,
    cl INTEGER NOT NULL,                   -- the row's life: odd while it exists, even once it is deleted
    hlc INTEGER NOT NULL,                  -- when: a hybrid timestamp
    sid INTEGER NOT NULL,                  -- who
    oseq INTEGER NOT NULL                  -- as which of the writer's changes
);
CREATE UNIQUE INDEX _sync_row_key ON _sync_row (tbl, pk);
CREATE INDEX _sync_row_feed ON _sync_row (sid, oseq);

-- The versions of columns that were written after the row's last whole write.
CREATE TABLE _sync_cell (
    r INTEGER NOT NULL,                    -- _sync_row.r
    col INTEGER NOT NULL,
    hlc INTEGER NOT NULL,
    sid INTEGER NOT NULL,
    oseq INTEGER NOT NULL,
    PRIMARY KEY (r, col)
) WITHOUT ROWID;
CREATE INDEX _sync_cell_feed ON _sync_cell (sid, oseq);

-- Values that won and could not be written: no such table or column here, or a
-- constraint stands against them. They stand above what the table holds. Those of
-- a column that was dropped here wait for nothing; their why is 'dropped here'.
CREATE TABLE _sync_shadow (
    tbl INTEGER NOT NULL,
    pk NOT NULL,
    col INTEGER NOT NULL,                  -- -1: the row has no columns
    val,
    why TEXT NOT NULL,
    PRIMARY KEY (tbl, pk, col)
) WITHOUT ROWID;

-- Values that lost against a write that did not know them.
CREATE TABLE _sync_conflict (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,                   -- when it was found, Unix milliseconds
    tbl INTEGER NOT NULL,
    pk NOT NULL,
    col INTEGER NOT NULL,
    val,                                   -- the value that lost
    hlc INTEGER NOT NULL,                  -- when that had been written
    sid INTEGER NOT NULL,                  -- by whom
    won INTEGER NOT NULL,                  -- the sid of the writer that won
    why TEXT NOT NULL,                     -- 'newer', 'deleted', 'merge failed', or 'row': the rest of a row of which a delete
                                           -- discarded an edit, kept so that the row can be restored
    life INTEGER NOT NULL DEFAULT 0,       -- the life of the row that the value belongs to; 0 in entries of version 2
    won_hlc INTEGER NOT NULL DEFAULT 0,    -- when the winner had been written; 0 when that is not known
    resolved INTEGER,                      -- when somebody dealt with it, Unix milliseconds; NULL while it is open
    how TEXT                               -- 'kept', 'restored' or 'merged'
);

-- The replicas that this one was synchronized with.
CREATE TABLE _sync_peer (
    rid BLOB PRIMARY KEY,
    name TEXT NOT NULL,                    -- how it was reached; empty when it reached us
    at INTEGER NOT NULL,                   -- when, Unix milliseconds
    acked INTEGER NOT NULL                 -- the last of our changes that it has
) WITHOUT ROWID;

-- Other names of tables (col is -1) and columns: those from before they were
-- renamed, and those that peers use. None is the name of another table or column.
CREATE TABLE _sync_alias (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (tbl, col, name)
) WITHOUT ROWID;

-- What follows is new in version 3.

-- Settings of this store, by name: see v3.md.
CREATE TABLE _sync_setting (
    name TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- Finds what lost in a row, also to journal no lost write twice.
CREATE INDEX _sync_conflict_row ON _sync_conflict (tbl, pk, col, hlc);

-- Rows that exist and are not in the user's table, because a constraint stands
-- against them. Their values are in _sync_shadow, under col -1 when they have none.
CREATE TABLE _sync_hidden (
    tbl INTEGER NOT NULL,
    pk NOT NULL,
    reason TEXT NOT NULL,                  -- 'unique', 'notNull', 'check', 'missingParent', 'trigger' or 'other'
    since INTEGER NOT NULL,                -- when the row was hidden, Unix milliseconds; 0 where nobody knows
    other_tbl INTEGER,                     -- a row that won, or the parent that is missing, where it is known
    other_pk,
    PRIMARY KEY (tbl, pk)
) WITHOUT ROWID;
CREATE INDEX _sync_hidden_reason ON _sync_hidden (tbl, reason, other_pk, other_tbl);

-- What happens to the rows of a table whose parent was deleted; without an entry they are held.
CREATE TABLE _sync_orphan_policy (
    tbl INTEGER PRIMARY KEY,
    policy TEXT NOT NULL                   -- 'delete' or 'setNull'
);

-- Points of the chains of replicas: where a replica gave numbers to changes, and a
-- hash of everything up to there. Of older points, not all are kept.
CREATE TABLE _sync_chain (
    sid INTEGER NOT NULL,                  -- the replica
    oseq INTEGER NOT NULL,                 -- the last of its changes up to the point
    previous INTEGER NOT NULL,             -- the same of the point before; none lies between
    hash BLOB NOT NULL,                    -- 16 bytes
    PRIMARY KEY (sid, oseq)
) WITHOUT ROWID;

-- What other replicas are known to know: their version vectors.
CREATE TABLE _sync_known (
    sid INTEGER NOT NULL,                  -- the replica
    origin INTEGER NOT NULL,               -- whose changes
    oseq INTEGER NOT NULL,                 -- the last of them that it has
    PRIMARY KEY (sid, origin)
) WITHOUT ROWID;

-- The changes that all replicas knew that were not retired, at the last compaction
-- here or elsewhere. There is no deletion among them in _sync_row any more.
CREATE TABLE _sync_floor (
    sid INTEGER PRIMARY KEY,
    oseq INTEGER NOT NULL
);

-- The replicas that nobody waits for any more.
CREATE TABLE _sync_retired (
    sid INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,                   -- when, Unix milliseconds
    reason INTEGER NOT NULL                -- 1 nothing was heard of it, 2 somebody said so, 3 its file has a new id
);

-- What became of the synchronizations with each remote that this store asked for.
CREATE TABLE _sync_attempt (
    name TEXT PRIMARY KEY,                 -- the remote, as its transport names it
    at INTEGER NOT NULL,                   -- when it was last tried, Unix milliseconds
    done INTEGER,                          -- when it last succeeded
    failures INTEGER NOT NULL,             -- how often it failed since then
    error TEXT,                            -- why, the last time, or with 0 failures, why it took no changes; NULL when all went well
    skew INTEGER NOT NULL                  -- how far stamps that came were ahead of the clock here, milliseconds
);

-- What becomes of concurrent values of columns. Columns without an entry: the last writer wins.
CREATE TABLE _sync_policy (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,
    kind TEXT NOT NULL,                    -- 'last writer', 'counter', 'custom', 'max' or 'min'; others are ignored
    name TEXT NOT NULL,                    -- the name of the function of a custom policy
    hlc INTEGER NOT NULL,                  -- when it was declared: of two, a counter stands, or else the later one
    rid BLOB NOT NULL,                     -- by which replica: its 16 bytes
    PRIMARY KEY (tbl, col)
) WITHOUT ROWID;

-- The columns that hold shares of counters: what one replica has added. No table has
-- them; each has its cells in _sync_cell, written by its replica only.
CREATE TABLE _sync_share (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,                  -- the column of the shares, in _sync_column
    counter INTEGER NOT NULL,              -- the column of the counter
    rid BLOB NOT NULL,                     -- whose shares they are
    PRIMARY KEY (tbl, col)
) WITHOUT ROWID;

-- Bases and shares of counters. The table of the user shows their sum, modulo 2^64. A share is a blob: see
-- "Counters" in ../wire/v1.md.
CREATE TABLE _sync_part (
    r INTEGER NOT NULL,                    -- _sync_row.r
    col INTEGER NOT NULL,                  -- the counter's column: its base; a column of shares: the share
    val,
    PRIMARY KEY (r, col)
) WITHOUT ROWID;

-- Bundles of which parts are missing.
CREATE TABLE _sync_inbox (
    id INTEGER PRIMARY KEY,
    bundle BLOB NOT NULL UNIQUE,           -- the SHA-256 of its header
    sender BLOB NOT NULL,                  -- the replica that made it
    bytes INTEGER NOT NULL,                -- the size of its parts that are here
    at INTEGER NOT NULL                    -- when the last one came, Unix milliseconds
);

-- Their parts, each as its frame.
CREATE TABLE _sync_inbox_part (
    id INTEGER PRIMARY KEY,                -- _sync_inbox.id << 34, plus: the header 0, chunk n n + 1, the end 1 << 33
    frame BLOB NOT NULL
);

-- Sums of hashes of all versions, by which replicas find out whether they hold the same:
-- for each row that exists and each cell, as far as the settings digest.* say.
CREATE TABLE _sync_digest (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,                  -- of the cells of a column; -1: of rows, by their last whole write
    n INTEGER NOT NULL,                    -- how many hashes are in the sum
    first INTEGER NOT NULL,                -- the sum of their first halves, modulo 2^64
    second INTEGER NOT NULL,               -- the sum of the second ones
    PRIMARY KEY (tbl, col)
) WITHOUT ROWID;

-- What is known of single tables beyond _sync_replica.oseq, and which deletions of them
-- are forgotten beyond _sync_floor, because some tables only are exchanged somewhere.
CREATE TABLE _sync_coverage (
    tbl INTEGER NOT NULL,
    sid INTEGER NOT NULL,                  -- the replica whose changes they are
    oseq INTEGER NOT NULL,                 -- the last of its changes of the table that is here
    floor INTEGER NOT NULL,                -- and the last that every replica knows that holds the table
    PRIMARY KEY (tbl, sid)
) WITHOUT ROWID;

-- The tables that are exchanged with remotes that don't get all.
CREATE TABLE _sync_scope (
    remote TEXT NOT NULL,                  -- the remote, as its transport names it
    tbl INTEGER NOT NULL,
    PRIMARY KEY (remote, tbl)
);

-- What other replicas that hold some tables only know of all of these.
CREATE TABLE _sync_acknowledged (
    sid INTEGER NOT NULL,                  -- the replica
    origin INTEGER NOT NULL,               -- whose changes
    oseq INTEGER NOT NULL,                 -- the last of them of its tables that it has
    PRIMARY KEY (sid, origin)
) WITHOUT ROWID;

-- The key by which servers know this replica. It and the four tables below stay with the file: copies lose them.
CREATE TABLE _sync_device_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL                      -- Ed25519, private, 32 bytes
);

-- Servers that this replica synchronizes with.
CREATE TABLE _sync_remote (
    name TEXT PRIMARY KEY,                 -- 'default' is the one that commands mean
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    trust INTEGER NOT NULL,                -- 0 this certificate only, 1 the system's roots, 2 no TLS (loopback)
    certificate BLOB,                      -- DER, for trust 0
    readonly INTEGER NOT NULL,             -- whether the server takes no changes from here
    scope TEXT                             -- what it said last that it exchanges with this file, JSON; NULL for everything
);

-- This file as a server.
CREATE TABLE _sync_server (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    certificate BLOB,                      -- its own, self-signed; DER
    key BLOB,                              -- the certificate's private key; P-256, 32 bytes
    address TEXT,                          -- where it listened last, host:port
    trust INTEGER,                         -- how clients have to check its certificate, as in _sync_remote
    fingerprint BLOB                       -- the SHA-256 of that certificate, for trust 0
);

-- Devices that may synchronize with this file as their server.
CREATE TABLE _sync_device (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,              -- Ed25519, public, 32 bytes
    label TEXT NOT NULL,
    readonly INTEGER NOT NULL,             -- 1: its changes are refused
    scope TEXT,                            -- what it may exchange, NULL for everything:
                                           -- {"rows":[{"column":2,"table":1,"values":[{"text":"a"}]}],"tables":[1,4]}
    replica BLOB,                          -- which replica it is, once it said so
    at INTEGER NOT NULL,                   -- when it was enrolled, Unix milliseconds
    seen INTEGER,                          -- when it was last here
    revoked INTEGER,                       -- since when it is refused
    revision INTEGER NOT NULL DEFAULT 0    -- how often what it may exchange was changed
);

-- Invitations: whoever knows the secret enrols one device.
CREATE TABLE _sync_invite (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,             -- of the secret, see v3.md
    label TEXT NOT NULL,
    readonly INTEGER NOT NULL,
    scope TEXT,                            -- as of devices
    expires INTEGER NOT NULL,              -- Unix milliseconds
    device BLOB                            -- the key of the device that used it
);

-- Tables of which some rows only are here: those that have one of some values in a column.
-- What is known of them is in _sync_partial_known, and neither in _sync_replica.oseq nor in _sync_coverage.
CREATE TABLE _sync_partial (
    tbl INTEGER PRIMARY KEY,
    col INTEGER NOT NULL,                  -- the scope column, in _sync_column
    remote TEXT NOT NULL,                  -- the remote that the choice was made for, as its transport names it
    whole INTEGER NOT NULL,                -- 1 while all rows are here that were when the choice was made
    everything INTEGER NOT NULL,           -- 1 when all rows are wanted again
    swept INTEGER NOT NULL,                -- the last _sync_log.seq when nothing was left to take out; 0 when there may be something
    revision INTEGER NOT NULL              -- rises whenever something else is asked for
);

-- The values that choose the rows: NULL, integers, text, blobs.
CREATE TABLE _sync_partial_value (
    tbl INTEGER NOT NULL,
    val,
    wanted INTEGER NOT NULL,               -- 1
    held INTEGER NOT NULL                  -- 1 when the rows with this value are here, as of _sync_partial_known.oseq
);

-- What the rows of these tables take into account.
CREATE TABLE _sync_partial_known (
    tbl INTEGER NOT NULL,
    sid INTEGER NOT NULL,                  -- the replica whose changes they are
    oseq INTEGER NOT NULL,                 -- the last of them that is taken into account
    seen INTEGER NOT NULL,                 -- the same but for rows in _sync_left, whose new values are not here
    own INTEGER NOT NULL,                  -- the last that was made here, when the replica is an earlier identity of this file
    dropped INTEGER NOT NULL,              -- the last own one in rows that were taken out
    PRIMARY KEY (tbl, sid)
) WITHOUT ROWID;

-- Rows that are no longer wanted, and stay until another replica has the changes that were made to them here.
CREATE TABLE _sync_left (
    tbl INTEGER NOT NULL,
    pk NOT NULL,
    PRIMARY KEY (tbl, pk)
) WITHOUT ROWID;

-- Links for people who look at the server's page, which stay with the file: whoever knows the secret opens a session, once.
CREATE TABLE _sync_console (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,             -- of the secret, see v3.md
    expires INTEGER NOT NULL               -- Unix milliseconds
);

-- The last values of rows that were deleted, so that an edit that did not know the deletion can be restored with the
-- rest of its row.
CREATE TABLE _sync_last (
    r INTEGER NOT NULL,                    -- _sync_row.r
    life INTEGER NOT NULL,                 -- the life that ended
    part INTEGER NOT NULL,                 -- a group of 60 columns; -1: the bases and shares of counters
    at INTEGER NOT NULL,                   -- when, Unix milliseconds
    size INTEGER NOT NULL,                 -- about how long the values are
    vals TEXT NOT NULL,                    -- see v3.md
    PRIMARY KEY (r, life, part)
);

-- Values as their authors wrote them, where a column of another type made others of them.
CREATE TABLE _sync_original (
    r INTEGER NOT NULL,                    -- _sync_row.r
    col INTEGER NOT NULL,
    hlc INTEGER NOT NULL,                  -- the write that the value belongs to: once that is not the last one of the
    sid INTEGER NOT NULL,                  -- column any more, the entry means nothing
    val,
    PRIMARY KEY (r, col)
) WITHOUT ROWID;

-- What is known of the members of the database: signed statements, see Schemas/membership/v1.md.
CREATE TABLE _sync_statement (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,             -- the StatementID
    content BLOB NOT NULL,                 -- the statement with its signature
    at INTEGER NOT NULL                    -- when it came to be known here, Unix milliseconds
);

-- The private keys of this file's device, which stay with the file.
CREATE TABLE _sync_member_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL                      -- the Ed25519 and the X25519 private key
);

-- The content keys that this file has opened, which stay with the file.
CREATE TABLE _sync_epoch_key (
    epoch BLOB PRIMARY KEY,                -- the StatementID of the epoch
    key BLOB NOT NULL
) WITHOUT ROWID;

-- The files of mailboxes that were read for statements, or written with some.
CREATE TABLE _sync_statement_file (
    mailbox TEXT NOT NULL,                 -- what the mailbox is called
    path TEXT NOT NULL,                    -- folder, slash, name
    size INTEGER NOT NULL,
    waits INTEGER NOT NULL,                -- when it was last read (ms), if it is read again; 0 otherwise
    held BLOB NOT NULL,                    -- the StatementIDs in it that are in _sync_statement; one byte of any
                                           -- value where there are none and the passphrase has opened the file
    PRIMARY KEY (mailbox, path)
) WITHOUT ROWID;
