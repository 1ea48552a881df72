// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "TeamServer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "CipherStore", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "team-server",
            dependencies: [
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
                .product(name: "SyncHTTP", package: "CipherStore"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "Sources/TeamServer")
    ]
)
