-- What a relay keeps in PostgreSQL, version 1. Sources/SyncRelayPostgres makes these tables at its first start, and a test
-- compares them with this file.
--
-- Who changes a channel locks its row first (SELECT … FOR UPDATE), reads what it has in statements of their own, and gives out
-- positions from there: they become visible in their order and without gaps. The rest of a transaction comes after that lock.

CREATE SCHEMA cipherstore_relay;
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
