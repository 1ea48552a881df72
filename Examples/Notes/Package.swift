// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherStore", path: "../..")],
    targets: [
        .executableTarget(
            name: "notes",
            dependencies: [
                .product(name: "CipherStore", package: "CipherStore"),
                .product(name: "SyncEngine", package: "CipherStore"),
                .product(name: "SyncHTTP", package: "CipherStore"),
            ],
            path: "Sources/Notes")
    ]
)
