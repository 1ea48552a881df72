import SyncWire

/// The schema that a seed chooses.
struct BuiltInSchema: Sendable {
    enum Content: Sendable {
        case any
        case text
        case integer
        case real
        case name
        case smallNumber
        /// The key of a row of a table.
        case reference(String)
    }

    struct Column: Sendable {
        let name: String
        let content: Content
        /// The versions of the app that have it.
        var versions = 0...2
    }

    struct Table: Sendable {
        let name: String
        let hasTextKey: Bool
        let columns: [Column]
        let sql: String
        var indexes: [String] = []
        /// A column that counts.
        var counter: String?
        /// Whether replicas may hold some of its rows only.
        var isChosenFrom = false

        /// The columns that a version of the app has.
        func columns(version: Int) -> [Column] { columns.filter { $0.versions.contains(version) } }
    }

    /// How many versions of the app there are.
    static let versionCount = 3

    private(set) var tables: [Table]
    /// Whether an INSERT OR REPLACE can remove another row than the one of its key.
    private(set) var hasUniqueColumns = false

    /// Chooses a schema.
    init(_ features: Set<SimulationFeature>, _ random: inout SimulationRandom) {
        tables = [Self.note]
        let isCounted = features.contains(.counters)
        if isCounted { tables[0].counter = "stars" }
        let isUnique = features.contains(.uniques) && !random.oneIn(3)
        hasUniqueColumns = isUnique
        tables.append(Self.tag(isUnique: isUnique, withoutRowID: random.oneIn(2), isCounted: isCounted))
        if isUnique, random.oneIn(2) { tables.append(Self.link) }
        if features.contains(.foreignKeys), !random.oneIn(3) {
            tables.append(Self.folder(&random, isUnique: isUnique && random.oneIn(2)))
            tables.append(Self.item(&random))
        }
        if features.contains(.checks), !random.oneIn(3) { tables.append(Self.range) }
        if features.contains(.rowScopes) { tables.append(Self.member(isCounted: isCounted)) }
    }

    /// The columns that count, by table.
    var counters: [String: Set<String>] {
        Dictionary(
            uniqueKeysWithValues: tables.compactMap { table in table.counter.map { (table.name, [$0]) } })
    }

    private static let note = Table(
        name: "note", hasTextKey: false,
        columns: [
            Column(name: "title", content: .text), Column(name: "body", content: .any),
            Column(name: "stars", content: .integer),
            Column(name: "score", content: .real, versions: 0...1),
            Column(name: "extra", content: .any, versions: 1...2),
        ],
        sql: """
            CREATE TABLE note (
                id BLOB PRIMARY KEY, title TEXT COLLATE NOCASE, body, stars INTEGER DEFAULT 0, score REAL DEFAULT 0.5)
            """)

    private static func tag(isUnique: Bool, withoutRowID: Bool, isCounted: Bool) -> Table {
        var table = Table(
            name: "tag", hasTextKey: true,
            columns: [
                Column(name: "name", content: .name), Column(name: "color", content: .any),
                Column(name: "weight", content: .integer, versions: 1...2),
            ] + (isCounted ? [Column(name: "uses", content: .integer)] : []),
            sql: """
                CREATE TABLE tag (
                    id TEXT PRIMARY KEY, name TEXT COLLATE NOCASE\(isUnique ? " UNIQUE" : ""), color NUMERIC\(isCounted ? ", uses INTEGER" : "")\
                )\(withoutRowID ? " WITHOUT ROWID" : "")
                """)
        if isCounted { table.counter = "uses" }
        return table
    }

    /// The values of the column by which rows of a table are chosen.
    static let rooms: [ScopeValue] = ["a", "b", "c", nil, 1]

    /// The table of which rows are chosen. Each key is inserted once, as those of rows are that are made
    /// apart: of two rows with one key, who holds some rows may have the one that lost.
    private static func member(isCounted: Bool) -> Table {
        Table(
            name: "member", hasTextKey: false,
            columns: [
                Column(name: "room", content: .any), Column(name: "name", content: .text),
                Column(name: "size", content: .integer),
            ],
            sql:
                "CREATE TABLE member (id BLOB PRIMARY KEY, room, name TEXT, size INTEGER NOT NULL DEFAULT 0)",
            counter: isCounted ? "size" : nil, isChosenFrom: true)
    }

    private static let link = Table(
        name: "link", hasTextKey: false,
        columns: [
            Column(name: "name", content: .name), Column(name: "place", content: .smallNumber),
            Column(name: "rank", content: .smallNumber),
        ],
        sql: "CREATE TABLE link (id BLOB PRIMARY KEY, name TEXT, place INTEGER, rank INTEGER UNIQUE)",
        indexes: ["CREATE UNIQUE INDEX link_name ON link (name COLLATE NOCASE, place)"])

    private static func action(_ random: inout SimulationRandom) -> String {
        let actions = [
            "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT",
            " ON DELETE CASCADE ON UPDATE CASCADE", " DEFERRABLE INITIALLY DEFERRED",
        ]
        return random.element(of: actions) ?? ""
    }

    private static func folder(_ random: inout SimulationRandom, isUnique: Bool) -> Table {
        Table(
            name: "folder", hasTextKey: false,
            columns: [
                Column(name: "parent", content: .reference("folder")), Column(name: "name", content: .name),
            ],
            sql: """
                CREATE TABLE folder (
                    id BLOB PRIMARY KEY, parent BLOB REFERENCES folder (id)\(action(&random)), name TEXT)
                """,
            indexes: isUnique ? ["CREATE UNIQUE INDEX folder_name ON folder (parent, name)"] : [])
    }

    private static func item(_ random: inout SimulationRandom) -> Table {
        Table(
            name: "item", hasTextKey: false,
            columns: [
                Column(name: "folder", content: .reference("folder")),
                Column(name: "tag", content: .reference("tag")), Column(name: "label", content: .text),
            ],
            sql: """
                CREATE TABLE item (
                    id BLOB PRIMARY KEY, folder BLOB REFERENCES folder\(action(&random)),
                    tag TEXT REFERENCES tag (id)\(action(&random)), label TEXT NOT NULL DEFAULT '')
                """)
    }

    private static let range = Table(
        name: "range", hasTextKey: false,
        columns: [Column(name: "low", content: .smallNumber), Column(name: "high", content: .smallNumber)],
        sql: """
            CREATE TABLE range (
                id BLOB PRIMARY KEY, low INTEGER NOT NULL DEFAULT 0, high INTEGER NOT NULL DEFAULT 5,
                CHECK (low <= high))
            """)
}
