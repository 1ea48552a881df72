// swift-tools-version:6.1
import PackageDescription

// A package of its own, so that nobody who uses the library builds it. `Scripts/fuzz` builds and
// runs it; the sources in Shared are links to files of other modules that no library exports.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherStore", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                // The main function is that of libFuzzer.
                .unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"]),
            ],
            // GNU gold fails on this archive of libFuzzer, with an internal error.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
    ]
)
