// swift-tools-version:6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

let package = Package(
    name: "recordfs",
    products: [
        .executable(name: "recordfs", targets: ["recordfs"]),
        .executable(name: "recordfs-server", targets: ["recordfs-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "FuseKit", dependencies: ["CFuse3"], swiftSettings: settings),
        .target(name: "RecordModel", swiftSettings: settings),
        .target(
            name: "RecordStore", dependencies: ["RecordModel", "RecordSQL", grdb, logging],
            swiftSettings: settings),
        .target(
            name: "RecordTree", dependencies: ["CLinux", "RecordModel", "RecordStore", logging],
            swiftSettings: settings),
        .target(
            name: "RecordMount",
            dependencies: [
                "CLinux", "FuseKit", "RecordTree", "RecordStore", "RecordModel", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "RecordControl", dependencies: ["RecordModel", "RecordStore", logging],
            swiftSettings: settings),
        .executableTarget(
            name: "recordfs",
            dependencies: [
                "RecordMount", "RecordTree", "RecordStore", "RecordModel", "RecordControl",
                logging, arguments,
            ],
            swiftSettings: settings),
        .target(
            name: "RecordSQL", dependencies: ["RecordModel", grdb], swiftSettings: settings),
        .target(name: "RecordWire", dependencies: ["RecordModel"], swiftSettings: settings),
        .target(
            name: "RecordServer",
            dependencies: [
                "CLinux", "RecordModel", "RecordSQL", "RecordWire", grdb, logging, hummingbird,
                hummingbirdTLS, crypto, cryptoExtras,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "recordfs-server",
            dependencies: ["RecordServer", "RecordWire", "RecordModel", logging, arguments],
            swiftSettings: settings),
        .testTarget(
            name: "RecordModelTests", dependencies: ["RecordModel"], swiftSettings: settings),
        .testTarget(
            name: "RecordStoreTests",
            dependencies: ["RecordStore", "RecordSQL", "RecordModel", grdb],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "RecordTreeTests", dependencies: ["RecordTree", "RecordStore", "RecordModel"],
            swiftSettings: settings),
        .testTarget(name: "FuseKitTests", dependencies: ["FuseKit"], swiftSettings: settings),
        .testTarget(
            name: "RecordControlTests",
            dependencies: ["RecordControl", "RecordStore", "RecordModel", logging],
            swiftSettings: settings),
        .testTarget(
            name: "RecordWireTests", dependencies: ["RecordWire", "RecordModel"],
            swiftSettings: settings),
        .testTarget(
            name: "RecordServerTests",
            dependencies: [
                "RecordServer", "RecordSQL", "RecordWire", "RecordModel", "recordfs-server",
                hummingbird, crypto, logging, grdb,
            ],
            swiftSettings: settings),
        .target(name: "CTestSystem", path: "Tests/CTestSystem"),
        .testTarget(
            name: "MountTests", dependencies: ["recordfs", "RecordModel", "CTestSystem"],
            swiftSettings: settings),
    ]
)
