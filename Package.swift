// swift-tools-version:6.1
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
]

// .ci/run has what tests spend their time in optimized, with the assertions of a debug build (docs/testing.md).
let librarySettings =
    settings
    + (Context.environment["CIPHERSTORE_OPTIMIZED"] == nil
        ? [] : [.unsafeFlags(["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"])])

let package = Package(
    name: "CipherStore",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "CipherStore", targets: ["CipherStore"]),
        .library(name: "TypedQueries", targets: ["TypedQueries"]),
        .library(name: "SyncEngine", targets: ["SyncEngine"]),
        // Typed tables, observed properties, and synchronization under the names of SQLiteData.
        .library(name: "CipherData", targets: ["CipherData"]),
        .library(name: "CipherDataTesting", targets: ["CipherDataTesting"]),
        // The query builder with its macros. Only what uses it compiles swift-syntax.
        .library(name: "TypedQueriesMacros", targets: ["TypedQueriesMacros"]),
        .library(name: "SyncHTTP", targets: ["SyncHTTP"]),
        .library(name: "SyncBucket", targets: ["SyncBucket"]),
        .library(name: "SyncRelay", targets: ["SyncRelay"]),
        // A relay's channels in PostgreSQL. It loads libpq when it is used, and nobody needs that to build.
        .library(name: "SyncRelayPostgres", targets: ["SyncRelayPostgres"]),
        .library(name: "SyncTesting", targets: ["SyncTesting"]),
        .executable(name: "syncctl", targets: ["syncctl"]),
        // The same without servers and ssh, and without the libraries that these need.
        .executable(name: "syncctl-local", targets: ["syncctl-local"]),
        .executable(name: "syncsim", targets: ["syncsim"]),
    ],
    traits: [
        // Publishers where the system has no Combine. Without it, nothing of OpenCombine is built.
        .trait(name: "OpenCombine", description: "Combine publishers on Linux, by OpenCombine")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        // Any version that goes with an app's other macros.
        .package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"605.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLCipher", pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
        // Compresses what travels. SyncHTTP's libraries need it too.
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(
            name: "CipherStore",
            dependencies: [
                "CSQLCipher",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(
                    name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
                .product(
                    name: "OpenCombineDispatch", package: "OpenCombine",
                    condition: .when(traits: ["OpenCombine"])),
            ],
            swiftSettings: librarySettings),
        .target(name: "TypedQueries", dependencies: ["CipherStore"], swiftSettings: settings),
        // What the compiler runs for the macros: the only user of swift-syntax.
        .macro(
            name: "CipherStoreMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ],
            swiftSettings: settings),
        .target(
            name: "TypedQueriesMacros", dependencies: ["CipherStoreMacros", "TypedQueries"],
            swiftSettings: settings),
        .target(
            name: "SyncWire",
            dependencies: ["CZlib", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: librarySettings),
        // Who takes part in a database: statements, the rule that judges them, and the keys that they hand on.
        .target(
            name: "SyncMembers",
            dependencies: ["SyncWire", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: librarySettings),
        .target(
            name: "SyncEngine",
            dependencies: [
                "CipherStore", "SyncMembers", "SyncWire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: librarySettings),
        .target(
            name: "CipherData",
            dependencies: ["CipherStore", "SyncEngine", "TypedQueries", "TypedQueriesMacros"],
            swiftSettings: settings),
        .target(name: "CipherDataTesting", dependencies: ["CipherData"], swiftSettings: settings),
        .target(
            name: "SyncHTTP",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncWire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            exclude: ["Console/Page"],
            swiftSettings: settings),
        .target(
            name: "SyncBucket",
            dependencies: [
                "CipherStore", "SyncEngine",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .target(
            name: "SyncRelay",
            dependencies: [
                "CipherStore", "SyncBucket", "SyncEngine", "SyncHTTP", "SyncMembers", "SyncWire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["Server/Page/Files"],
            swiftSettings: settings),
        .target(
            name: "SyncRelayPostgres",
            dependencies: ["SyncRelay", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .target(
            name: "SyncctlCommands",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncMembers", "SyncWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "syncctl",
            dependencies: [
                "CipherStore", "SyncBucket", "SyncctlCommands", "SyncEngine", "SyncHTTP", "SyncMembers", "SyncRelay",
                "SyncRelayPostgres",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "syncctl-local",
            dependencies: [
                "SyncctlCommands", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .target(
            name: "SyncTesting", dependencies: ["CipherStore", "SyncEngine", "SyncMembers", "SyncWire"],
            swiftSettings: settings),
        .executableTarget(
            name: "syncsim",
            dependencies: [
                "CipherStore", "SyncTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["CipherStore"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "CipherStoreTests",
            dependencies: [
                "CipherStore", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(
                    name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
                .product(
                    name: "OpenCombineDispatch", package: "OpenCombine",
                    condition: .when(traits: ["OpenCombine"])),
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings),
        // Code of apps that are not in the Swift 6 language mode yet.
        .testTarget(
            name: "LanguageModeTests", dependencies: ["CipherStore"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "TypedQueriesMacrosTests", dependencies: ["TypedQueriesMacros"],
            swiftSettings: settings),
        .testTarget(
            name: "TypedQueriesTests", dependencies: ["CipherStore", "TypedQueries"], swiftSettings: settings),
        .testTarget(
            name: "SyncWireTests", dependencies: ["SyncWire", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "SyncMembersTests", dependencies: ["SyncMembers", "SyncWire", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SyncEngineTests",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncMembers", "SyncWire", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings),
        // The code of the articles in Sources/*/*.docc.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "CipherData", "CipherStore", "SyncBucket", "SyncEngine", "SyncHTTP", "SyncRelay",
                "SyncRelayPostgres", "SyncTesting", "TestSupport",
            ],
            swiftSettings: settings),
        // That of Examples, which are packages of their own.
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "CipherData", "CipherStore", "SyncEngine", "SyncHTTP", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CipherDataTests", dependencies: ["CipherData", "CipherDataTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SyncHTTPTests",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncHTTP", "SyncTesting", "SyncWire", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncBucketTests",
            dependencies: [
                "CipherStore", "SyncBucket", "SyncEngine", "SyncMembers", "SyncTesting", "SyncWire", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncRelayTests",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncHTTP", "SyncMembers", "SyncRelay", "SyncRelayPostgres",
                "SyncTesting", "SyncWire", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncRelayPostgresTests",
            dependencies: [
                "CipherStore", "SyncEngine", "SyncHTTP", "SyncRelay", "SyncRelayPostgres", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SyncTestingTests",
            dependencies: ["CipherStore", "SyncEngine", "SyncTesting", "SyncWire", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SyncctlTests",
            dependencies: [
                "syncctl", "syncctl-local", "CipherStore", "SyncctlCommands", "SyncEngine", "SyncHTTP",
                "SyncMembers", "SyncRelay", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["FaultInjection/interposer.c"],
            swiftSettings: settings),
    ]
)
