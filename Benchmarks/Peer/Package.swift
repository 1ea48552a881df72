// swift-tools-version:6.1
import PackageDescription

// GRDB on the system's SQLite, for figures to put beside those of the package around this one. It
// is apart from it for three reasons. Who measures the library alone need not fetch and compile
// GRDB. SQLite and SQLCipher export the same names, and must not meet in one process. And the
// sources in Shared, which are the other package's, import whichever library they can.
let package = Package(
    name: "PeerBenchmarks",
    platforms: [.macOS(.v15)],
    // The version is named in Opening.swift too.
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0")],
    targets: [
        .systemLibrary(
            name: "SQLiteLibrary", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "RawLoops", dependencies: ["SQLiteLibrary"], cSettings: [.define("RAW_LOOPS_PLAIN")]),
        .executableTarget(
            name: "PeerBenchmarks",
            dependencies: ["RawLoops", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
    ]
)
