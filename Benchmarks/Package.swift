// swift-tools-version:6.1
import PackageDescription

// A package of its own, so that the measured code is specialised in another module, as in an app,
// and so that nobody who uses the library builds it.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherStore", path: "..")],
    targets: [
        .systemLibrary(
            name: "SQLCipherLibrary", pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
        .target(name: "RawLoops", dependencies: ["SQLCipherLibrary"]),
        .target(
            name: "BenchmarkRows",
            dependencies: [
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "BenchmarkRows", "RawLoops",
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
                .product(name: "TypedQueries", package: "CipherStore"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "GrowthBenchmarks",
            dependencies: [
                "BenchmarkRows",
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "RelayBenchmarks",
            dependencies: [
                "RawLoops",
                .product(name: "SyncRelay", package: "CipherStore"),
                .product(name: "SyncRelayPostgres", package: "CipherStore"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "RemoteBenchmarks",
            dependencies: [
                "BenchmarkRows",
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
                .product(name: "SyncHTTP", package: "CipherStore"),
                .product(name: "SyncRelay", package: "CipherStore"),
            ],
            swiftSettings: settings),
        // What a relay costs: measured, and in a model of many devices.
        .executableTarget(
            name: "RelayScale",
            dependencies: [
                .product(name: "SyncEngine", package: "CipherStore"),
                .product(name: "SyncHTTP", package: "CipherStore"),
                .product(name: "SyncRelay", package: "CipherStore"),
            ],
            swiftSettings: settings),
    ]
)
