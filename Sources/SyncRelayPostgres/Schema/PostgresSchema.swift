import SyncRelay

/// The tables of a storage. They are in a schema of their own, so that they get along with those of other programs.
enum PostgresSchema {
    static let version: Int64 = 1
    /// "CSRLrely", as the key of the advisory lock under which tables are made.
    private static let lockKey: Int64 = 0x4353_524C_7265_6C79

    /// Not part of the rest: a role that may use a schema which was made for it may not be allowed to make one.
    static let schemaSQL = "CREATE SCHEMA cipherstore_relay;"

    /// Schemas/relay/storage-v1.sql has these texts, and a test compares them.
    static let sql = """
        CREATE TABLE cipherstore_relay.storage (version bigint NOT NULL);
        CREATE TABLE cipherstore_relay.channel (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id bytea NOT NULL UNIQUE,
            -- Random: a channel that is removed and made again has another epoch.
            birth bytea NOT NULL,
            read_digest bytea NOT NULL,
            write_digest bytea NOT NULL,
            position bigint NOT NULL,
            byte_count bigint NOT NULL,
            file_count bigint NOT NULL,
            -- How many removals are remembered, and the position of the last one that was forgotten.
            removal_count bigint NOT NULL,
            forgotten bigint NOT NULL,
            -- The tickets of the last commits, 8 bytes each, the last one first: whether a commit took effect whose answer
            -- was lost.
            tickets bytea NOT NULL
        ) WITH (fillfactor = 50);
        -- What is known of a name: a version, or that the file was removed. Then there is no body. That of an empty file is
        -- 0.
        CREATE TABLE cipherstore_relay.file (
            channel bigint NOT NULL,
            folder text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            position bigint NOT NULL,
            byte_count bigint NOT NULL,
            milliseconds bigint NOT NULL,
            digest bytea,
            body bigint,
            PRIMARY KEY (channel, folder, name)
        );
        CREATE UNIQUE INDEX file_position ON cipherstore_relay.file (channel, position);
        CREATE INDEX file_removal ON cipherstore_relay.file (channel, position) WHERE body IS NULL;
        -- The bytes of bodies, in pieces of 256 KiB. They are encrypted, so that compressing them is in vain.
        CREATE TABLE cipherstore_relay.block (
            body bigint NOT NULL,
            number bigint NOT NULL,
            bytes bytea NOT NULL,
            PRIMARY KEY (body, number)
        );
        ALTER TABLE cipherstore_relay.block ALTER COLUMN bytes SET STORAGE EXTERNAL;
        -- Numbers of bodies, a thousand at a time.
        CREATE SEQUENCE cipherstore_relay.body AS bigint INCREMENT BY 1000 MINVALUE 1000;
        -- Bodies that are being written, and that nobody sees.
        CREATE TABLE cipherstore_relay.upload (
            body bigint PRIMARY KEY,
            channel bigint NOT NULL,
            byte_count bigint NOT NULL,
            received bigint NOT NULL,
            milliseconds bigint NOT NULL
        );
        CREATE INDEX upload_channel ON cipherstore_relay.upload (channel);
        -- Bodies that nobody sees any more, until their blocks are removed.
        CREATE TABLE cipherstore_relay.discarded (body bigint PRIMARY KEY);
        CREATE TABLE cipherstore_relay.invitation (
            id bytea PRIMARY KEY,
            channel bigint NOT NULL,
            sealed bytea NOT NULL,
            expiry bigint NOT NULL,
            -- The ticket of the call that it was handed out to.
            taken bytea
        );
        CREATE INDEX invitation_channel ON cipherstore_relay.invitation (channel);
        CREATE INDEX invitation_expiry ON cipherstore_relay.invitation (expiry);
        CREATE TABLE cipherstore_relay.kept (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
        INSERT INTO cipherstore_relay.storage (version) VALUES (1);
        """

    private static let lock = PostgresStatement(
        "schema-lock", [.integer], "SELECT pg_advisory_xact_lock($1)")
    private static let relations = PostgresStatement(
        "schema-relations", [],
        """
        SELECT count(*), count(*) FILTER (WHERE relation.relname = 'storage' AND relation.relkind = 'r'),
            to_regnamespace('cipherstore_relay') IS NOT NULL
        FROM pg_catalog.pg_class AS relation
        JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
        WHERE space.nspname = 'cipherstore_relay'
        """)
    private static let known = PostgresStatement(
        "schema-version", [], "SELECT version FROM cipherstore_relay.storage")

    /// Makes the tables or checks them.
    ///
    /// - throws: ``RelayStorageError``, ``PostgresFailure``.
    static func prepare(
        _ connection: PostgresConnection, _ address: PostgresAddress,
        until deadline: PostgresConnection.Deadline
    ) throws {
        try PostgresSession.transaction(connection, until: deadline) {
            // Several nodes may start at once.
            try connection.run(lock, [.integer(lockKey)], until: deadline)
            let counts = try connection.run(relations, until: deadline).first
            guard let counts, try counts.integer(0) > 0 else {
                if try counts?.bool(2) != true { try connection.execute(schemaSQL, until: deadline) }
                return try connection.execute(sql, until: deadline)
            }
            guard try counts.integer(1) == 1 else { throw notAStorage(address) }
            let rows: [PostgresRow]
            do {
                rows = try connection.run(known, until: deadline).rows
            } catch let failure as PostgresFailure where failure.kind == .refused("42703") {
                throw notAStorage(address)
            }
            guard rows.count == 1, let version = try rows.first?.integer(0) else {
                throw notAStorage(address)
            }
            guard version == Self.version else {
                throw RelayStorageError(
                    .tooNew,
                    "the storage has version \(version), and this program knows \(Self.version); use a newer program",
                    path: "\(address)")
            }
        }
    }

    private static func notAStorage(_ address: PostgresAddress) -> RelayStorageError {
        RelayStorageError(
            .notAStorage,
            "the database has a schema cipherstore_relay of another program; use another database",
            path: "\(address)")
    }
}
